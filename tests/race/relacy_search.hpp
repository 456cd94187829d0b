// Runs a scenario under Relacy. Relacy's machinery is a template over the test; every scenario goes through
// one test type per number of threads, so that it is compiled a few times, not once per algorithm, shape and
// weakness.
#pragma once

namespace mgsync::race {

// A program of a few threads. All of it is called inside Relacy's simulation, once per schedule.
class scenario {
 public:
  virtual ~scenario() = default;
  virtual void begin() = 0;  // constructs the shared state
  virtual void thread(unsigned self) = 0;
  virtual void end() = 0;  // destroys it
};

enum class search { random, context_bound };

// Whether `iterations` schedules of `threads` threads (2 to 9, or 12) violate nothing. `iterations`
// bounds the random search; the context-bound one ends by itself or there.
bool holds(scenario&, unsigned threads, search, unsigned iterations);

}  // namespace mgsync::race
