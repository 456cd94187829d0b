#include "src/studies/blocking/case_subject.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/child_process.hpp"
#include "src/base/json_fields.hpp"
#include "src/harness/child.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::blocking {
namespace {

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

// Lets more ranks than hardware threads run, which must yield to each other; the user's own settings are
// kept.
std::map<std::string, std::string> environment_of(const blocking_case& c) {
  std::map<std::string, std::string> all;
  if (c.level != "rank") return all;
  for (const auto& [name, value] : {std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                    std::pair{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                    std::pair{"OMPI_MCA_mpi_yield_when_idle", "1"}})
    if (std::getenv(name) == nullptr) all[name] = value;
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

std::string_view outcome_of(const holding& h) {
  if (h.hung_in != 0) return "hangs";
  return h.violations == 0 && h.wrong_data == 0 ? "holds" : "does not hold";
}

quantities_by_name quantities_of(const case_report& run) {
  const auto list = [](const std::vector<unsigned>& all) {
    return std::vector<double>(all.begin(), all.end());
  };
  quantities_by_name all{{"duration", {"s", {run.end.seconds}}},
                         {"named", {"", list(run.end.seen.named)}},
                         {"absent", {"", list(run.absent)}}};
  if (!run.end.seen.held) return all;
  const holding& h = *run.end.seen.held;
  for (const auto& [name, count] : {std::pair{"hung_in", h.hung_in},
                                    {"rounds", h.rounds},
                                    {"violations", h.violations},
                                    {"wrong_data", h.wrong_data},
                                    {"control_rounds", h.control_rounds},
                                    {"control_violations", h.control_violations}})
    all[name] = {"", {static_cast<double>(count)}};
  for (const auto& [name, stamps] : {std::pair{"begin", &h.begin},
                                     {"end", &h.end},
                                     {"control_begin", &h.control_begin},
                                     {"control_end", &h.control_end}})
    all[name] = {h.unit, *stamps};
  return all;
}

class case_subject final : public subject {
 public:
  case_subject(case_starter by, blocking_case c, std::string broken)
      : by_(std::move(by)), case_(std::move(c)), broken_(std::move(broken)) {}

  seen run(const order& asked) override {
    seen came{.done = asked};
    if (!broken_.empty()) {
      came.ended = ending::died;
      came.reason = broken_;
      return came;
    }
    auto c = case_;
    c.seed = asked.seed;
    const auto end = carry_out(by_, c);
    if (end.interrupted) {
      came.ended = ending::aborted;
      return came;
    }
    if (!end.error.empty()) {
      came.ended = ending::died;
      came.reason = end.error;
      return came;
    }
    came.outcome = end.seen.held ? outcome_of(*end.seen.held) : to_string(*end.outcome);
    const auto participants = static_cast<unsigned>(end.seen.participants.size());
    came.own = case_report{end, absentees(c, participants), afterwards()};
    return came;
  }

 private:
  // Runs the case again with nobody absent, in a fresh process: what was stuck must be free again.
  std::string afterwards() const {
    auto fresh = case_;
    fresh.how = absence::nobody;
    fresh.rounds = 0;
    fresh.bound_ms = std::max(case_.bound_ms, 5000u);
    const auto end = carry_out(by_, fresh);
    if (end.interrupted) return "interrupted";
    if (!end.error.empty()) return end.error;
    return end.outcome == outcome::held ? "works"
                                        : fmt::format("all came, and it {}", to_string(*end.outcome));
  }

  case_starter by_;
  blocking_case case_;
  std::string broken_;  // even when all come
};

class outcome_checker final : public checker {
 public:
  explicit outcome_checker(blocking_case c)
      : case_(std::move(c)), method_(find_method(case_.level, case_.method)) {}

  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) add(run.outcome, std::any_cast<const case_report&>(run.own));
  }
  verdict judge() const override { return verdict_; }
  void add_to(result& r) const override { r.quantities.insert(last_.begin(), last_.end()); }

 private:
  void complain(std::string why) {
    ++verdict_.violations;
    verdict_.passed = false;
    verdict_.details.emplace("reason", std::move(why));
  }

  void add(const std::string& word, const case_report& run) {
    verdict_.kind = verdict_kind::outcome;
    verdict_.passed = (verdict_.rounds == 0 || verdict_.passed) && (words_.empty() || words_ == word);
    words_ = words_.empty() || words_ == word ? word : words_ + ", " + word;
    for (const auto& [key, value] : run.end.seen.found) verdict_.details[key] = value;
    verdict_.details["ended_by"] = run.end.seen.ended_by;
    verdict_.details["afterwards"] = run.afterwards;
    verdict_.details["outcome"] = words_;
    last_ = quantities_of(run);
    if (case_.rounds > 0) add_rounds(run.end.seen.held.value_or(holding{}), word);
    else add_case(run, word);
    if (run.afterwards != "works") complain("a fresh process afterwards: " + run.afterwards);
  }

  void add_rounds(const holding& h, const std::string& word) {
    verdict_.rounds += h.rounds;
    verdict_.control_flagged = 100 * h.control_violations > 99 * h.control_rounds;
    if (verdict_.rounds > 0) verdict_.bound = upper_bound(verdict_.rounds);
    if (!verdict_.control_flagged) {
      verdict_.passed = false;
      verdict_.details["finding"] = "void: without the barrier fewer than 99 % of the rounds violate";
    }
    if (word == "hangs") {
      if (method_->ours) complain("a barrier of ours hangs when all come");
      verdict_.details["finding"] =
          fmt::format("it hangs when all come, each in a branch of its own: in round {}", h.hung_in);
      return;
    }
    const bool holds = word == "holds";
    if (method_->ours && !holds) complain("a barrier of ours does not hold everybody");
    if (!method_->ours && holds == method_->members_are_those_who_make_it)
      verdict_.details["finding"] =
          holds ? "it holds across branches, where its members were thought to be those of one branch"
                : "it does not hold everybody";
  }

  void add_case(const case_report& run, const std::string& word) {
    ++verdict_.rounds;
    const auto foretold = predicted(*method_, case_.how, case_.form);
    verdict_.details["predicted"] = foretold;
    if (!foretold.empty() && foretold != word)
      verdict_.details["finding"] = fmt::format("{} was foretold, and it {}", foretold, word);
    if (!method_->ours) return;
    if (word == "passed") complain("a barrier of ours let the others through without the absent");
    const auto& by = run.end.seen.ended_by;
    const auto& named = run.end.seen.named;
    if (word == "hung" && by != "launcher" && by != "trap" && (by != "time-out" || named != run.absent))
      complain(fmt::format("a barrier of ours hung until '{}' and named '{}' where '{}' were absent", by,
                           fmt::join(named, ","), fmt::join(run.absent, ",")));
  }

  blocking_case case_;
  const method* method_;
  verdict verdict_;
  quantities_by_name last_;  // of the last run
  std::string words_;
};

}  // namespace

case_starter starter_here() {
  std::error_code none;
  case_starter by;
  by.program = std::filesystem::read_symlink(this_program, none).string();
  by.launcher = find_in_path("mpirun");
  if (by.launcher.empty()) by.launcher = find_in_path("mpiexec");
  return by;
}

case_end carry_out(const case_starter& by, const blocking_case& c) {
  case_end end;
  const auto begin = std::chrono::steady_clock::now();
  const auto child = run_child({.command = command_of(by, c),
                                .environment = environment_of(c),
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
  const auto& found = end.seen.found;
  if (const auto why = found.find("error"); why != found.end()) end.error = why->second;
  if (!end.error.empty() || found.contains("waived")) return end;
  if (!end.seen.held) end.outcome = judge(end.seen, c, *find_method(c.level, c.method));
  if (end.seen.ended_by.empty()) end.seen.ended_by = ended_from_outside(c, child);
  if (!end.outcome && !end.seen.held) end.error = why_nothing(child);
  return end;
}

subject_creation make_case_subject(const case_starter& by, const blocking_case& c) {
  // Whether a barrier can run here shows in a case with nobody absent: tried once for every barrier.
  auto all_come = c;
  all_come.how = absence::nobody;
  all_come.rounds = 0;
  all_come.who = "last";
  all_come.bound_ms = std::max(c.bound_ms, 5000u);
  struct ability {
    std::string waived, broken;  // why it cannot run here; what is wrong with it
  };
  static std::map<std::string, ability> known;
  const auto key = by.program + on_wire(all_come);
  if (!known.contains(key)) {
    const auto end = carry_out(by, all_come);
    if (end.interrupted) return {nullptr, "interrupted", {}};
    auto& here = known[key];
    if (const auto why = end.seen.found.find("waived"); why != end.seen.found.end())
      here.waived = why->second;
    else if (!end.error.empty()) here.broken = end.error;
    else if (end.outcome != outcome::held)
      here.broken = fmt::format("all came, and it {}", to_string(*end.outcome));
  }
  const auto& here = known[key];
  if (!here.waived.empty()) return {nullptr, here.waived, {}};
  return {std::make_unique<case_subject>(by, c, here.broken), {}, {}};
}

std::unique_ptr<checker> make_outcome_checker(const blocking_case& c) {
  return std::make_unique<outcome_checker>(c);
}

}  // namespace mgsync::blocking
