#include "src/studies/blocking/case_subject.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/values/statistics.hpp"

namespace mgsync::blocking {
namespace {

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
  case_subject(std::shared_ptr<case_crew> crew, std::size_t first, std::string broken)
      : crew_(std::move(crew)), first_(first), broken_(std::move(broken)) {}

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    const auto died = [&](std::string why) {
      came.ended = ending::died;
      came.reason = std::move(why);
      return came;
    };
    if (!broken_.empty()) return died(broken_);
    const auto& report = crew_->report(first_ + asked.seed - 1);
    const auto& end = report.end;
    if (!end.error.empty()) return died(end.error);
    if (end.interrupted) came.ended = ending::aborted;
    else came.outcome = end.seen.held ? outcome_of(*end.seen.held) : to_string(*end.outcome);
    came.own = report;
    return came;
  }

 private:
  std::shared_ptr<case_crew> crew_;
  std::size_t first_;   // the number of its first run
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

subject_creation make_case_subject(std::shared_ptr<case_crew> crew, std::size_t ability, std::size_t first) {
  const auto& all_came = crew->report(ability).end;
  if (all_came.interrupted) return {nullptr, "interrupted", {}};
  if (const auto why = all_came.seen.found.find("waived"); why != all_came.seen.found.end())
    return {nullptr, why->second, {}};
  auto broken = all_came.error;
  if (broken.empty() && all_came.outcome != outcome::held)
    broken = fmt::format("all came, and it {}", to_string(*all_came.outcome));
  return {std::make_unique<case_subject>(std::move(crew), first, std::move(broken)), {}, {}};
}

std::unique_ptr<checker> make_outcome_checker(const blocking_case& c) {
  return std::make_unique<outcome_checker>(c);
}

}  // namespace mgsync::blocking
