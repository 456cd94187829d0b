// A clock that does not count the time during which this process is stopped (Ctrl-Z until fg, scontrol
// suspend, a debugger) or its machine is suspended. All time-outs are measured by it, so that a process that
// was stopped is not taken for a late one.
//   const auto late = awake_clock::now() + 30s;   // 30 s in which this process was not stopped
// A keeper thread reads the clock every few ms. Where nobody has read it for half a second, the process must
// have been stopped, and that time is left out.
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

  // May be called from any thread. Without a keeper this is the steady clock.
  static time_point now();
  static duration ticks() { return now().time_since_epoch(); }
  // All the time that the clock has left out so far.
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
  static inline std::atomic<rep> looked_ = 0;  // when somebody last read the clock, by the steady clock
  static inline std::atomic<rep> left_out_ = 0;
  static inline std::atomic<rep> last_stop_ = 0, last_stop_ended_ = 0;
  static inline std::mutex noting_;
};

}  // namespace mgsync
