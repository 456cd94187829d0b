// Ends the process when something that nobody can interrupt lasts too long, and takes note of signals.
// A thread of its own, started before MPI_Init. It never calls MPI or CUDA: those may be what is stuck.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/base/awake_clock.hpp"

namespace mgsync {

// How far one worker has come: the number of rounds that it has arrived at.
struct progress {
  std::string who;  // "member 2 block 0 (rank 1, host n1)"
  std::uint64_t arrived = 0;
};

class watchdog {
 public:
  // `report` gets one paragraph, then `before_exit` makes durable what was measured, and gets the paragraph
  // too. Both are called from the watchdog's thread, once. After them the process leaves by _exit(3); after a
  // signal that the command did not follow within a second, by _exit(128 + signal); where a rank is gone, or
  // something went on for too long without being stuck, by _exit(1). `at_signal` is called from there too, as
  // soon as a signal asks the command to end or it crashes, and again every 50 ms until it says that it did
  // what it could: the command goes on meanwhile.
  watchdog(std::function<void(const std::string&)> report,
           std::function<void(const std::string&)> before_exit, std::function<bool()> at_signal = {});
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // While a guard lives, `look` must show progress at least once in `patience`. `what` names what is going
  // on. Only the innermost guard counts; the report names all of them. look() may be empty: then the guard's
  // own lifetime is bounded. on_signal() is called once, from the watchdog's thread, when a signal asks the
  // command to end: it makes waits give up. Whatever the progress, all of it may last `longest`; 0: as long
  // as it takes. Time in which the process was stopped is none.
  class guard {
   public:
    guard(watchdog& owner, std::string what, std::chrono::nanoseconds patience,
          std::function<std::vector<progress>()> look = {}, std::function<void()> on_signal = {},
          std::chrono::nanoseconds longest = {});
    ~guard();
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    watchdog* owner_;
  };

  // For `before_exit`: the code that the process is about to leave with, which it may change.
  int leaving_with() const { return code_; }
  void leave_with(int code) { code_ = code; }

 private:
  struct watched {
    std::string what;
    std::chrono::nanoseconds patience;
    std::function<std::vector<progress>()> look;
    std::function<void()> on_signal;
    std::chrono::nanoseconds longest;
    awake_clock::time_point began, last_change;
    std::vector<progress> last_seen;
  };

  void watch();
  void tell_of_signal(std::unique_lock<std::mutex>&);
  void give_up_if_stuck();
  [[noreturn]] void give_up(const watched&, int code);

  std::function<void(const std::string&)> report_;
  std::function<void(const std::string&)> before_exit_;
  std::function<bool()> at_signal_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<watched> stack_;
  bool stop_ = false;
  std::optional<awake_clock::time_point> signal_seen_;
  int told_of_ = 0;  // the signal
  int code_ = 0;
  awake_clock::keeper keeper_;
  std::thread thread_;
};

// Signals that ask the command to end: SIGINT, SIGTERM, SIGHUP (unless it was ignored: nohup), SIGQUIT,
// SIGXCPU, SIGXFSZ, and SIGUSR1 and SIGUSR2, with which batch systems warn of a time limit. Another one ends
// the process at once where it comes more than a second later: sooner it is the same wish by another way (a
// launcher, a shell). Installed once, by main.
void take_note_of_signals();
// The first such signal that arrived (one of the first two after a warning), 0: none.
int signal_received();
// "signal 15 (Terminated)": the one above, or what this process crashed by. Empty: neither.
std::string signal_in_words();

// The process crashes as ever, after a watchdog's at_signal did what it could for at most two seconds. Called
// once, after libraries that have handlers of their own were started: those come afterwards.
void take_note_of_crashes();
int crash_received();  // 0: none

// The sentence for a stuck run: who is behind, from the rounds each has arrived at.
std::string who_is_late(const std::vector<progress>&);

}  // namespace mgsync
