// Ends the process when a call that cannot be interrupted lasts too long, and handles signals. A thread of
// its own, started before MPI_Init. It never calls MPI or CUDA: those may be what is stuck.
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
  // When the watchdog gives up, its thread calls `report` and then `before_exit`, once each, with a paragraph
  // that says why; before_exit saves what was measured. Then the process ends: by _exit(3) where something is
  // stuck; by _exit(128 + signal) where a signal came and the command did not end within a second; by
  // _exit(1) where a rank is gone, or something lasted longer than `longest` although it progressed.
  // `at_signal` is called from the same thread as soon as a signal asks the command to end, it crashes, or
  // (on rank 0) another rank has left word why it ends, and again every 50 ms until it returns true; the
  // command goes on meanwhile.
  watchdog(std::function<void(const std::string&)> report,
           std::function<void(const std::string&)> before_exit, std::function<bool()> at_signal = {});
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // While a guard lives, `look` must show progress at least once in `patience`. `what` names what is going
  // on. Only the innermost guard counts; the report names all of them. look() may be empty: then the guard's
  // own lifetime is bounded. on_signal() is called once, from the watchdog's thread, when a signal asks the
  // command to end: it makes waits give up. Whatever its progress, the guard may live at most `longest`; 0:
  // without a bound. Time in which the process was stopped does not count.
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
  int told_of_ = 0;  // the signal that at_signal was last called for with success
  int code_ = 0;
  awake_clock::keeper keeper_;
  std::thread thread_;
};

// Signals that ask the command to end: SIGINT, SIGTERM, SIGHUP (unless it was ignored: nohup), SIGQUIT,
// SIGXCPU, SIGXFSZ, and SIGUSR1 and SIGUSR2, with which batch systems warn of a time limit. A second one ends
// the process at once if it comes more than a second after the first: sooner it is taken for the same
// request, sent by the launcher or the shell too. Called once, by main.
void take_note_of_signals();
// Gives these signals their default action back, where nothing would be lost. One that arrived meanwhile ends
// the process now.
void let_signals_end();
// The first such signal that arrived, 0: none. SIGTERM and the like replace an earlier SIGUSR1 or SIGUSR2.
int signal_received();
// "signal 15 (Terminated)": that signal, or the one that this process crashed with. Empty: neither.
std::string signal_in_words();

// From now on a crash first waits for a watchdog's at_signal, for at most four seconds, and then goes on as
// without it. Called once, after libraries that install handlers of their own: theirs run afterwards.
void take_note_of_crashes();
int crash_received();  // 0: none

// A clause for a stuck run that names the workers that have arrived at the fewest rounds.
std::string who_is_late(const std::vector<progress>&);

}  // namespace mgsync
