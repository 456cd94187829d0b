// Where the participants of a case on the host stand: stamps that all of them and a watcher see, in a
// process's memory or in memory that ranks share. And how a participant takes part.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

inline constexpr unsigned most_participants = 64;

// All zero at first; stamps are ns of the monotonic clock, which all processes of a host share.
struct case_board {
  struct alignas(128) place {
    std::atomic<std::int64_t> arrived, left, acted, done;
    std::atomic<std::uint32_t> gave_up;
  };
  place places[most_participants];
};

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The barrier of a case, as a participant uses it.
class meeting {
 public:
  virtual ~meeting() = default;
  // Through the barrier. False: its own wait came to an end, and named() says who was missing.
  virtual bool meet(unsigned participant) = 0;
  // Waits at another barrier, to which nobody else comes.
  virtual void wait_elsewhere(unsigned participant) = 0;
  virtual void drop(unsigned) {}
  virtual std::vector<unsigned> named(unsigned) const { return {}; }
};

// What the case's participants share.
struct case_run {
  const blocking_case* asked;
  unsigned participants;
  case_board* board;
  meeting* barrier;
};

// What participant `me` does in the case. `exit` ends it where the absent are to end: of a rank it does not
// return. Every stamp goes to `say` too ("arrived", ns), which may be empty.
using stamp_listener = std::function<void(const char* what, std::int64_t ns)>;
void take_part(const case_run&, unsigned me, const stamp_listener& say, const std::function<void()>& exit);

// Whether everybody has done what he does, so that all that could end a wait has happened.
bool settled(const case_run&);
// Whether all are done who will ever be.
bool finished(const case_run&);

// Waits until the case is finished, or its bound (of ours twice, whose waits last that long) has passed since
// it was settled, or has not been settled after 30 s; how it ended.
std::string watch(const case_run&);

// One line on stdout by one write, so that those of several processes do not mix.
void say_line(const std::string& line);

}  // namespace mgsync::blocking
