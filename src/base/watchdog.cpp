#include "src/base/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"

namespace mgsync {

namespace {

std::atomic<int> first_signal = 0;  // read by the watchdog too
static_assert(std::atomic<int>::is_always_lock_free, "set by a signal handler");

bool is_a_warning(int number) { return number == SIGUSR1 || number == SIGUSR2; }

extern "C" void note_signal(int number) {
  int first = 0;
  if (first_signal.compare_exchange_strong(first, number)) return;
  // A batch system's warning may come several times, by the scheduler, the job's shell and the launcher, and its end
  // after it. Of the others, which a person sends, the second one ends at once.
  if (is_a_warning(number)) return;
  if (is_a_warning(first) && first_signal.compare_exchange_strong(first, number)) return;
  _exit(128 + number);
}

bool moved(const std::vector<progress>& before, const std::vector<progress>& now) {
  return !std::equal(before.begin(), before.end(), now.begin(), now.end(),
                     [](const progress& a, const progress& b) { return a.arrived == b.arrived; });
}

}  // namespace

void take_note_of_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) sigaction(number, &action, nullptr);
}

int signal_received() { return first_signal; }

std::string who_is_late(const std::vector<progress>& seen) {
  if (seen.empty()) return "no member's progress is visible from here";
  const auto furthest = std::max_element(seen.begin(), seen.end(),
                                         [](const auto& a, const auto& b) { return a.arrived < b.arrived; });
  std::vector<std::string> late;
  for (const auto& p : seen)
    if (p.arrived < furthest->arrived) late.push_back(fmt::format("{} (arrived at round {})", p.who, p.arrived));
  if (late.empty())
    return fmt::format("all members arrived at round {} and none was released", furthest->arrived);
  constexpr std::size_t most = 8;
  const std::size_t hidden = late.size() > most ? late.size() - most : 0;
  late.resize(late.size() - hidden);
  return fmt::format("did not arrive at round {}: {}{}", furthest->arrived, fmt::join(late, ", "),
                     hidden == 0 ? "" : fmt::format(" and {} more", hidden));
}

watchdog::watchdog(std::function<void(const std::string&)> report,
                   std::function<void(const std::string&)> before_exit)
    : report_(std::move(report)), before_exit_(std::move(before_exit)) {
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
                       std::function<std::vector<progress>()> look, std::function<void()> on_signal)
    : owner_(&owner) {
  std::lock_guard lock(owner.mutex_);
  owner.stack_.push_back({std::move(what), patience, std::move(look), std::move(on_signal), std::chrono::steady_clock::now(), {}});
}

watchdog::guard::~guard() {
  std::lock_guard lock(owner_->mutex_);
  owner_->stack_.pop_back();
  if (!owner_->stack_.empty()) owner_->stack_.back().last_change = std::chrono::steady_clock::now();
}

void watchdog::watch() {
  sigset_t all;  // signals are for the main thread
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(50), [&] { return stop_; }))
    if (!stack_.empty()) give_up_if_stuck();
}

void watchdog::give_up_if_stuck() {
  watched& now = stack_.back();
  const auto time = std::chrono::steady_clock::now();
  if (now.look) {
    auto seen = now.look();
    if (moved(now.last_seen, seen)) {
      now.last_seen = std::move(seen);
      now.last_change = time;
    }
  }
  if (signal_received() != 0 && !signal_seen_) signal_seen_ = time;
  if (signal_seen_ && now.on_signal) std::exchange(now.on_signal, {})();
  if (signal_seen_ && time - std::max(*signal_seen_, now.last_change) > std::chrono::seconds(1))
    give_up(now, 128 + signal_received());
  if (time - now.last_change > now.patience) give_up(now, static_cast<int>(exit_code::barrier_failed));
}

void watchdog::give_up(const watched& stuck, int code) {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - stuck.last_change).count();
  // From the outermost guard in: what was being done, then the part of it that is stuck.
  std::string text = "mgsync: stuck: " + stack_.front().what;
  for (std::size_t i = 1; i < stack_.size(); ++i) text += fmt::format(" ({})", stack_[i].what);
  text += fmt::format(" made no progress for {:.3g} s", seconds);
  if (stuck.look) text += "; " + who_is_late(stuck.last_seen);
  report_(text);
  before_exit_(text);
  _exit(code);
}

}  // namespace mgsync
