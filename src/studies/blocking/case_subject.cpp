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

#include "src/studies/blocking/child_process.hpp"

namespace mgsync::blocking {
namespace {

// Beyond its own bound: what a busy machine may take to start a process, its ranks or its GPU.
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
  std::istringstream words(to_text(c));
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

// More ranks than hardware threads must give way to each other; whatever the user has set himself stays.
std::map<std::string, std::string> environment_of(const blocking_case& c) {
  std::map<std::string, std::string> all;
  if (c.level != "rank") return all;
  for (const auto& [name, value] : {std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                    std::pair{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                    std::pair{"OMPI_MCA_mpi_yield_when_idle", "1"}})
    if (std::getenv(name) == nullptr) all[name] = value;
  return all;
}

// How a case ended that did not say so itself.
std::string ended_from_outside(const blocking_case& c, const child_end& child) {
  if (child.outlived) return "killed";
  return c.level == "rank" ? "launcher" : "died";
}

void add_holding(const holding& h, std::map<std::string, std::string>& to) {
  to["outcome"] = h.hung_in != 0                           ? "hangs"
                  : h.violations == 0 && h.wrong_data == 0 ? "holds"
                                                           : "does not hold";
  if (h.hung_in != 0) to["hung_in"] = fmt::format("{}", h.hung_in);
  to["rounds"] = fmt::format("{}", h.rounds);
  to["violations"] = fmt::format("{}", h.violations);
  to["wrong_data"] = fmt::format("{}", h.wrong_data);
  to["control_rounds"] = fmt::format("{}", h.control_rounds);
  to["control_violations"] = fmt::format("{}", h.control_violations);
  to["begin"] = fmt::format("{}", fmt::join(h.begin, " "));
  to["end"] = fmt::format("{}", fmt::join(h.end, " "));
  to["control_begin"] = fmt::format("{}", fmt::join(h.control_begin, " "));
  to["control_end"] = fmt::format("{}", fmt::join(h.control_end, " "));
  to["stamp_unit"] = h.unit;
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
    came.evidence = end.seen.found;
    came.evidence["ended_by"] = end.seen.ended_by;
    came.evidence["seconds"] = fmt::format("{:.2f}", end.seconds);
    came.evidence["named"] = fmt::format("{}", fmt::join(end.seen.named, ","));
    came.evidence["absent"] =
        fmt::format("{}", fmt::join(absentees(c, static_cast<unsigned>(end.seen.participants.size())), ","));
    if (end.seen.held) add_holding(*end.seen.held, came.evidence);
    else came.evidence["outcome"] = to_string(*end.outcome);
    came.evidence["afterwards"] = afterwards();
    return came;
  }

 private:
  // All come, in a process of its own: what was stuck is free again.
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

class outcome_prover final : public prover {
 public:
  explicit outcome_prover(blocking_case c)
      : case_(std::move(c)), method_(find_method(case_.level, case_.method)) {}

  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) add(run.evidence);
  }
  verdict judge() const override { return verdict_; }

 private:
  static std::uint64_t number(const std::map<std::string, std::string>& from, const std::string& key) {
    const auto found = from.find(key);
    return found == from.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
  }

  void complain(std::string why) {
    ++verdict_.violations;
    verdict_.passed = false;
    verdict_.details.emplace("reason", std::move(why));
  }

  void add(const std::map<std::string, std::string>& evidence) {
    const auto& word = evidence.at("outcome");
    verdict_.kind = verdict_kind::outcome;
    verdict_.passed = (verdict_.rounds == 0 || verdict_.passed) && (words_.empty() || words_ == word);
    words_ = words_.empty() || words_ == word ? word : words_ + ", " + word;
    for (const auto& [key, value] : evidence) verdict_.details[key] = value;
    verdict_.details["outcome"] = words_;
    if (case_.rounds > 0) add_rounds(evidence);
    else add_case(evidence, word);
    if (const auto& works = evidence.at("afterwards"); works != "works")
      complain("a fresh process afterwards: " + works);
  }

  void add_rounds(const std::map<std::string, std::string>& evidence) {
    verdict_.rounds += number(evidence, "rounds");
    const auto control = number(evidence, "control_rounds");
    verdict_.control_flagged = 100 * number(evidence, "control_violations") > 99 * control;
    if (verdict_.rounds > 0) verdict_.bound = 3.0 / static_cast<double>(verdict_.rounds);
    if (!verdict_.control_flagged) {
      verdict_.passed = false;
      verdict_.details["finding"] = "void: without the barrier fewer than 99 % of the rounds violate";
    }
    if (evidence.at("outcome") == "hangs") {
      if (method_->ours) complain("a barrier of ours hangs when all come");
      verdict_.details["finding"] = fmt::format(
          "it hangs when all come, each in a branch of its own: in round {}", evidence.at("hung_in"));
      return;
    }
    const bool holds = evidence.at("outcome") == "holds";
    if (method_->ours && !holds) complain("a barrier of ours does not hold everybody");
    if (!method_->ours && holds == method_->members_are_those_who_make_it)
      verdict_.details["finding"] =
          holds ? "it holds across branches, where its members were thought to be those of one branch"
                : "it does not hold everybody";
  }

  void add_case(const std::map<std::string, std::string>& evidence, const std::string& word) {
    ++verdict_.rounds;
    const auto foretold = predicted(*method_, case_.how, case_.form);
    verdict_.details["predicted"] = foretold;
    if (!foretold.empty() && foretold != word)
      verdict_.details["finding"] = fmt::format("{} was foretold, and it {}", foretold, word);
    if (!method_->ours) return;
    if (word == "passed") complain("a barrier of ours let the others through without the absent");
    const auto& by = evidence.at("ended_by");
    if (word == "hung" && by != "launcher" && by != "trap" &&
        (by != "time-out" || evidence.at("named") != evidence.at("absent")))
      complain(fmt::format("a barrier of ours hung until '{}' and named '{}' where '{}' were absent", by,
                           evidence.at("named"), evidence.at("absent")));
  }

  blocking_case case_;
  const method* method_;
  verdict verdict_;
  std::string words_;
};

}  // namespace

case_starter starter_here() {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  case_starter by;
  by.program = (self.parent_path() / "mgsync_blocking_case").string();
  by.launcher = find_in_path("mpirun");
  if (by.launcher.empty()) by.launcher = find_in_path("mpiexec");
  return by;
}

case_end carry_out(const case_starter& by, const blocking_case& c) {
  case_end end;
  const auto begin = std::chrono::steady_clock::now();
  const auto child = run_child(command_of(by, c), environment_of(c),
                               2 * std::chrono::milliseconds(c.bound_ms) + longest_around);
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  end.interrupted = child.interrupted;
  if (end.interrupted) return end;
  if (!child.started) {
    end.error = child.err;
    return end;
  }
  end.seen = case_seen_from(child.out);
  const auto& found = end.seen.found;
  if (const auto why = found.find("error"); why != found.end()) end.error = why->second;
  if (!end.error.empty() || found.contains("waived")) return end;
  if (!end.seen.held) end.outcome = judge(end.seen, c, *find_method(c.level, c.method));
  if (end.seen.ended_by.empty()) end.seen.ended_by = ended_from_outside(c, child);
  if (!end.outcome && !end.seen.held)
    end.error = fmt::format("the case came to nothing (exit code {}{}): {}", child.code,
                            child.outlived ? ", killed" : "", last_line(child.err));
  return end;
}

subject_creation make_case_subject(const case_starter& by, const blocking_case& c) {
  // What cannot be here says so when all come: asked once of every barrier.
  auto all_come = c;
  all_come.how = absence::nobody;
  all_come.rounds = 0;
  all_come.who = "last";
  all_come.bound_ms = std::max(c.bound_ms, 5000u);
  struct ability {
    std::string waived, broken;  // why it cannot be here; what is wrong with it
  };
  static std::map<std::string, ability> known;
  const auto key = by.program + " " + to_text(all_come);
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

std::unique_ptr<prover> make_outcome_prover(const blocking_case& c) {
  return std::make_unique<outcome_prover>(c);
}

}  // namespace mgsync::blocking
