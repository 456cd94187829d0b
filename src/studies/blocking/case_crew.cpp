#include "src/studies/blocking/case_crew.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/harness/child.hpp"

namespace mgsync::blocking {
namespace {

constexpr std::size_t most_ahead = 16;  // cases under way behind the one that is asked for

// Time on top of a case's own bound: starting a process, its ranks or its GPU on a busy machine.
constexpr auto longest_around = std::chrono::seconds(40);

std::string last_line(const std::string& text) {
  std::string last, line;
  std::istringstream in(text);
  while (std::getline(in, line))
    if (line.find_first_not_of(" -\t*") != std::string::npos) last = line;
  return last;
}

std::vector<std::string> command_of(const case_starter& by, const blocking_case& c) {
  std::vector<std::string> all;
  if (c.level == "rank") all = {by.launcher, "-np", fmt::format("{}", c.members)};
  all.push_back(by.program);
  for (auto& word : words_of_child("blocking", on_wire(c))) all.push_back(std::move(word));
  return all;
}

// Lets more ranks than hardware threads run, which must yield to each other, and keeps what Open MPI has of
// one launch apart from another's, which removes their common folder as it ends, also while the next begins
// in it. The user's own settings are kept.
std::map<std::string, std::string> environment_of(const case_starter& by, const blocking_case& c) {
  std::map<std::string, std::string> all;
  if (c.level != "rank") return all;
  for (const auto& [name, value] : {std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                    std::pair{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                    std::pair{"OMPI_MCA_mpi_yield_when_idle", "1"},
                                    std::pair{"OMPI_MCA_orte_tmpdir_base", by.session.c_str()}})
    if (std::getenv(name) == nullptr && *value != 0) all[name] = value;
  return all;
}

// How a case ended whose process did not report it.
std::string ended_from_outside(const blocking_case& c, const child_end& child) {
  if (child.outlived) return "killed";
  return c.level == "rank" ? "launcher" : "died";
}

// Why there is no outcome, for a process that reported none.
std::string why_nothing(const child_end& child) {
  const auto last = last_line(child.err);
  return fmt::format("the process of this case had no outcome: {}{}{}",
                     child.death.empty() ? "it said nothing" : child.death, last.empty() ? "" : ": ", last);
}

// The same with nobody absent.
blocking_case with_all(blocking_case c) {
  c.how = absence::nobody;
  c.rounds = 0;
  c.bound_ms = std::max(c.bound_ms, 5000u);
  return c;
}

}  // namespace

case_starter starter_here() {
  std::error_code none;
  case_starter by;
  by.program = std::filesystem::read_symlink(this_program, none).string();
  // That of the MPI of this build goes first: beside it PATH may hold another MPI's.
  for (const auto* launcher : {MGSYNC_MPIEXEC, "mpirun", "mpiexec"})
    if (by.launcher.empty()) by.launcher = find_in_path(launcher);
  return by;
}

case_end carry_out(const case_starter& by, const blocking_case& c) {
  case_end end;
  const auto begin = std::chrono::steady_clock::now();
  const auto child = run_child({.command = command_of(by, c),
                                .environment = environment_of(by, c),
                                .longest = 2 * std::chrono::milliseconds(c.bound_ms) + longest_around,
                                .dies_by = SIGTERM});  // upon which a launcher ends its ranks
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  end.interrupted = child.interrupted;
  if (end.interrupted) return end;
  if (!child.started) {
    end.error = child.death;
    return end;
  }
  end.seen = case_seen_from(child.out);
  end.seconds -= end.seen.waited_s;
  const auto& found = end.seen.found;
  if (const auto why = found.find("error"); why != found.end()) end.error = why->second;
  if (!end.error.empty() || found.contains("waived")) return end;
  if (!end.seen.held) end.outcome = judge(end.seen, c, *find_method(c.level, c.method));
  if (end.seen.ended_by.empty()) end.seen.ended_by = ended_from_outside(c, child);
  if (!end.outcome && !end.seen.held) end.error = why_nothing(child);
  return end;
}

case_crew::~case_crew() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;  // what is under way ends by its bounds
  }
  for (auto& one : all_)
    if (one.thread.joinable()) one.thread.join();
}

std::string case_crew::turn_of(int gpu) {
  auto& file = turns_[gpu];
  if (!file) file = unique_descriptor(check_errno(memfd_create("turn", MFD_CLOEXEC), "making a lock"));
  return fmt::format("/proc/{}/fd/{}", getpid(), file.get());
}

std::size_t case_crew::plan_ability(blocking_case c, std::vector<int> units) {
  const auto number = plan(with_all(std::move(c)), std::move(units), 0);
  all_.back().ability.reset();
  return number;
}

std::size_t case_crew::plan(blocking_case c, std::vector<int> units, std::size_t ability) {
  auto& one = all_.emplace_back();
  one.asked = std::move(c);
  one.units = std::move(units);
  one.ability = ability;
  return all_.size() - 1;
}

const case_report& case_crew::report(std::size_t planned) {
  std::unique_lock lock(mutex_);
  const auto are_ranks = [](const planned_case& one) { return one.asked.level == "rank"; };
  if (!sessions_ && std::ranges::any_of(all_, are_ranks)) sessions_.emplace();
  wanted_ = planned;
  start_what_can();
  done_.wait(lock, [&] { return all_[planned].done; });
  return all_[planned].report;
}

// Starts every case from the wanted one on that none before it stands in the way of.
void case_crew::start_what_can() {
  std::set<int> taken;
  for (std::size_t i = 0; i < all_.size() && i < wanted_ + most_ahead && !ending_; ++i) {
    auto& one = all_[i];
    const bool is_over = i < wanted_ && !one.started && i != all_[wanted_].ability;
    if (one.done || is_over) continue;
    const auto* ability = one.ability ? &all_[*one.ability] : nullptr;
    if (ability != nullptr && ability->done && ability->report.end.outcome != outcome::held && i != wanted_)
      continue;  // nobody will ask for it
    const bool is_free = std::ranges::none_of(one.units, [&](int unit) { return taken.contains(unit); });
    taken.insert(one.units.begin(), one.units.end());
    if (one.started || !is_free || (ability != nullptr && !ability->done)) continue;
    one.started = true;
    for (const int gpu : one.asked.gpus) one.asked.turns.push_back(turn_of(gpu));
    one.thread = std::jthread([this, &one] { do_case(one); });
  }
}

case_end case_crew::carry_out(const blocking_case& c) {
  auto by = by_;
  if (c.level == "rank") by.session = sessions_->file(fmt::format("{}", ++sessions_begun_));
  return blocking::carry_out(by, c);
}

void case_crew::do_case(planned_case& one) {
  case_report report;
  report.end = carry_out(one.asked);
  report.absent = absentees(one.asked, static_cast<unsigned>(report.end.seen.participants.size()));
  if (one.ability && report.end.error.empty() && !report.end.interrupted) {
    // What was stuck must be free again.
    const auto fresh = carry_out(with_all(one.asked));
    if (fresh.interrupted) report.afterwards = "interrupted";
    else if (!fresh.error.empty()) report.afterwards = fresh.error;
    else if (fresh.outcome != outcome::held)
      report.afterwards = fmt::format("all came, and it {}", to_string(*fresh.outcome));
  }
  const std::scoped_lock lock(mutex_);
  one.report = std::move(report);
  one.done = true;
  start_what_can();
  done_.notify_all();
}

}  // namespace mgsync::blocking
