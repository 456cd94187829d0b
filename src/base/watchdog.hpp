// Ends the process when something that nobody can interrupt lasts too long, and takes note of signals.
// A thread of its own, started before MPI_Init. It never calls MPI or CUDA: those may be what is stuck.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mgsync {

// How far one worker has come: the number of rounds that it has arrived at.
struct progress {
  std::string who;            // "member 2 block 0 (rank 1, host n1)"
  std::uint64_t arrived = 0;
};

class watchdog {
 public:
  // `report` gets one paragraph, then `before_exit` makes durable what was measured, and gets the paragraph too. Both
  // are called from the watchdog's thread, once. After them the process leaves by _exit(3); after a signal that the
  // command did not follow within a second, by _exit(128 + signal).
  watchdog(std::function<void(const std::string&)> report, std::function<void(const std::string&)> before_exit);
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // While a guard lives, `look` must show progress at least once in `patience`. `what` names what is going on. Only
  // the innermost guard counts; the report names all of them. look() may be empty: then the guard's own lifetime is bounded.
  // on_signal() is called once, from the watchdog's thread, when a signal asks the command to end: it makes waits give up.
  class guard {
   public:
    guard(watchdog& owner, std::string what, std::chrono::nanoseconds patience,
          std::function<std::vector<progress>()> look = {}, std::function<void()> on_signal = {});
    ~guard();
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    watchdog* owner_;
  };

 private:
  struct watched {
    std::string what;
    std::chrono::nanoseconds patience;
    std::function<std::vector<progress>()> look;
    std::function<void()> on_signal;
    std::chrono::steady_clock::time_point last_change;
    std::vector<progress> last_seen;
  };

  void watch();
  void give_up_if_stuck();
  [[noreturn]] void give_up(const watched&, int code);

  std::function<void(const std::string&)> report_;
  std::function<void(const std::string&)> before_exit_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<watched> stack_;
  bool stop_ = false;
  std::optional<std::chrono::steady_clock::time_point> signal_seen_;
  std::thread thread_;
};

// Signals that ask the command to end: SIGINT, SIGTERM, and SIGUSR1 and SIGUSR2, with which batch systems warn of a time
// limit. A second SIGINT or SIGTERM ends the process at once. Installed once, by main.
void take_note_of_signals();
// The first such signal that arrived (one of the first two after a warning), 0: none.
int signal_received();

// The sentence for a stuck run: who is behind, from the rounds each has arrived at.
std::string who_is_late(const std::vector<progress>&);

}  // namespace mgsync
