#include "src/base/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/base/launcher.hpp"

namespace mgsync {

namespace {

std::atomic<int> first_signal = 0;  // read by the watchdog's thread too
std::atomic<std::int64_t> first_signal_ms = 0;
std::atomic<bool> launcher_was_lost = false;
std::atomic<int> crash = 0;
std::atomic<bool> crash_was_told = false;
constexpr int a_word = -1;       // in the place of a signal's number: another rank said why it ends
std::atomic<int> listening = 0;  // watchdogs that have an at_signal
static_assert(std::atomic<int>::is_always_lock_free, "set by a signal handler");

std::int64_t now_ms() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

bool is_a_warning(int number) { return number == SIGUSR1 || number == SIGUSR2; }

extern "C" void note_signal(int number) {
  int first = 0;
  if (first_signal.compare_exchange_strong(first, number)) {
    first_signal_ms = now_ms();
    return;
  }
  // A batch system's warning may come several times, from the scheduler, the job's shell and the launcher,
  // and is followed by its signal to end. A launcher may send its signal twice. What a person sends again
  // more than a second later ends the process at once.
  if (is_a_warning(number)) return;
  if (is_a_warning(first) && first_signal.compare_exchange_strong(first, number)) {
    first_signal_ms = now_ms();
    return;
  }
  if (now_ms() - first_signal_ms > 1000) _exit(128 + number);
}

constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
struct sigaction before_crash[std::size(crashes)];

extern "C" void note_crash(int number) {
  int none = 0;
  if (crash.compare_exchange_strong(none, number) && listening > 0) {
    const timespec a_moment{0, 10'000'000};
    for (int i = 0; i < 400 && !crash_was_told; ++i) nanosleep(&a_moment, nullptr);
  }
  for (std::size_t i = 0; i < std::size(crashes); ++i)
    if (crashes[i] == number) sigaction(number, &before_crash[i], nullptr);
  raise(number);  // once this handler has returned
}

bool moved(const std::vector<progress>& before, const std::vector<progress>& now) {
  return !std::equal(before.begin(), before.end(), now.begin(), now.end(),
                     [](const progress& a, const progress& b) { return a.arrived == b.arrived; });
}

// Sets the action of the signals that ask the command to end.
void on_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2})
    sigaction(number, &action, nullptr);
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

void take_note_of_signals() { on_signals(note_signal); }

void let_signals_end() {
  on_signals(SIG_DFL);
  if (first_signal != 0) raise(first_signal);
}

int signal_received() { return first_signal; }

std::string signal_in_words() {
  const int number = crash != 0 ? crash : first_signal;
  return number == 0 ? ""
                     : fmt::format("signal {} ({}){}", number, strsignal(number),
                                   launcher_was_lost ? ", as the launcher is gone" : "");
}

void take_note_of_crashes() {
  struct sigaction action {};
  action.sa_handler = note_crash;
  for (std::size_t i = 0; i < std::size(crashes); ++i) sigaction(crashes[i], &action, &before_crash[i]);
}

int crash_received() { return crash; }

std::string who_is_late(const std::vector<progress>& seen) {
  if (seen.empty()) return "no member's progress is visible from here";
  const auto furthest = std::max_element(seen.begin(), seen.end(),
                                         [](const auto& a, const auto& b) { return a.arrived < b.arrived; });
  std::vector<std::string> late;
  for (const auto& p : seen)
    if (p.arrived < furthest->arrived)
      late.push_back(fmt::format("{} (arrived at round {})", p.who, p.arrived));
  if (late.empty())
    return fmt::format("all members arrived at round {} and none was released", furthest->arrived);
  constexpr std::size_t most = 8;
  const std::size_t hidden = late.size() > most ? late.size() - most : 0;
  late.resize(late.size() - hidden);
  return fmt::format("did not arrive at round {}: {}{}", furthest->arrived, fmt::join(late, ", "),
                     hidden == 0 ? "" : fmt::format(" and {} more", hidden));
}

watchdog::watchdog(std::function<void(const std::string&)> report,
                   std::function<void(const std::string&)> before_exit, std::function<bool()> at_signal)
    : report_(std::move(report)), before_exit_(std::move(before_exit)), at_signal_(std::move(at_signal)) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error& error) {
    throw api_error("system", error.what(), "starting the watchdog's thread");
  }
}

watchdog::~watchdog() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

watchdog::guard::guard(watchdog& owner, std::string what, std::chrono::nanoseconds patience,
                       std::function<std::vector<progress>()> look, std::function<void()> on_signal,
                       std::chrono::nanoseconds longest)
    : owner_(&owner) {
  std::lock_guard lock(owner.mutex_);
  const auto now = awake_clock::now();
  owner.stack_.push_back(
      {std::move(what), patience, std::move(look), std::move(on_signal), longest, now, now, {}});
}

watchdog::guard::~guard() {
  std::lock_guard lock(owner_->mutex_);
  owner_->stack_.pop_back();
  if (!owner_->stack_.empty()) owner_->stack_.back().last_change = awake_clock::now();
}

void watchdog::watch() {
  sigset_t all;  // blocked in this thread, so that signals go to the main thread
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  if (at_signal_) ++listening;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(50), [&] { return stop_; })) {
    awake_clock::now();
    if (!launcher_was_lost && signal_received() == 0 && launcher_is_gone()) {
      launcher_was_lost = true;
      note_signal(SIGTERM);
    }
    if (at_signal_) tell_of_signal(lock);
    if (!stack_.empty()) give_up_if_stuck();
  }
  if (at_signal_) --listening;
}

// Calls at_signal without the lock: writing files may take a while, and the command goes on meanwhile.
void watchdog::tell_of_signal(std::unique_lock<std::mutex>& lock) {
  const int crashed = crash, received = crashed != 0 ? crashed : signal_received();
  const int number =
      received == 0 && communicator::speaks_first() && communicator::was_told() ? a_word : received;
  if (number == told_of_) return;
  lock.unlock();
  if (at_signal_()) told_of_ = number;
  if (crashed != 0 && told_of_ == number) crash_was_told = true;
  lock.lock();
}

void watchdog::give_up_if_stuck() {
  watched& now = stack_.back();
  using namespace std::chrono_literals;
  const auto time = awake_clock::now();
  if (now.look) {
    auto seen = now.look();
    if (moved(now.last_seen, seen)) {
      now.last_seen = std::move(seen);
      now.last_change = time;
    }
  }
  if (signal_received() != 0 && !signal_seen_) signal_seen_ = time;
  if (signal_seen_ && now.on_signal) std::exchange(now.on_signal, {})();
  // Other ranks wait two seconds longer, so that rank 0 reports first.
  const auto turn = communicator::speaks_first() ? 0s : 2s;
  if (signal_seen_ &&
      (time - std::max(*signal_seen_, now.last_change) > 1s + turn || time - *signal_seen_ > 5s + turn))
    give_up(now, 128 + signal_received());
  if (time - now.last_change > now.patience) give_up(now, static_cast<int>(exit_code::barrier_failed));
  if (now.longest.count() > 0 && time - now.began > now.longest)
    give_up(now, static_cast<int>(exit_code::failure));
  if (now.look && time - now.last_change > 500ms + turn &&
      !communicator::lost_ranks(communicator::lost::gone).empty())
    give_up(now, static_cast<int>(exit_code::failure));
}

void watchdog::give_up(const watched& stuck, int code) {
  const auto seconds_since = [](awake_clock::time_point then) {
    return std::chrono::duration<double>(awake_clock::now() - then).count();
  };
  const bool went_on = stuck.longest.count() > 0 && awake_clock::now() - stuck.began > stuck.longest;
  // From the outermost guard in: what was being done, then the part of it that is stuck.
  std::string text = (went_on ? "overdue: " : "stuck: ") + stack_.front().what;
  for (std::size_t i = 1; i < stack_.size(); ++i) text += fmt::format(" ({})", stack_[i].what);
  text += went_on ? fmt::format(" was not through after {:.3g} s, although it went on",
                                seconds_since(stuck.began))
                  : fmt::format(" made no progress for {:.3g} s", seconds_since(stuck.last_change));
  if (stuck.look && !went_on) text += "; " + who_is_late(stuck.last_seen);
  leave_with(code);
  report_(text);
  before_exit_(text);
  // The time-outs of the other ranks end about now. If this process ended before them, they would take it for
  // lost and exit with another code.
  const bool stuck_together = code_ == static_cast<int>(exit_code::barrier_failed);
  if (!communicator::this_rank().empty() &&
      (stuck_together || code_ == static_cast<int>(exit_code::failure))) {
    if (stuck_together) std::this_thread::sleep_for(std::chrono::seconds(1));
    communicator::let_first_write(patience_of_a_failed_rank);
    if (ask_launcher_to_end_job(code_)) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  _exit(code_);
}

}  // namespace mgsync
