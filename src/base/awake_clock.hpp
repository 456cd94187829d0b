// A clock that stands still while this process does: while it is stopped (Ctrl-Z until fg, scontrol suspend,
// a debugger), or its machine is. What is bounded in time is bounded by this one: who was stopped is not
// late.
//   const auto late = awake_clock::now() + 30s;   // of time in which this process could do something about
//   it
// It knows by its keeper, a thread that looks at it every few ms: where nobody did for half a second, nobody
// could.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace mgsync {

class awake_clock {
 public:
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<awake_clock, duration>;
  static constexpr bool is_steady = true;
  static constexpr duration shortest_stop = std::chrono::milliseconds(500);

  // From any thread. As the steady clock, where no keeper lives.
  static time_point now();
  static duration ticks() { return now().time_since_epoch(); }
  // All that it has left out so far.
  static duration stopped();
  // The last stop; nothing when it ended longer ago than `recent`.
  static duration stopped_within(duration recent);

  // While one lives its owner calls now() every 50 ms or so, from a thread that waits for nothing else.
  class keeper {
   public:
    keeper();
    ~keeper();
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;
  };

 private:
  static duration raw() { return std::chrono::steady_clock::now().time_since_epoch(); }

  static inline std::atomic<int> keepers_ = 0;
  static inline std::atomic<rep> looked_ = 0;  // when somebody last did, of the steady clock
  static inline std::atomic<rep> left_out_ = 0;
  static inline std::atomic<rep> last_stop_ = 0, last_stop_ended_ = 0;
  static inline std::mutex noting_;
};

}  // namespace mgsync
