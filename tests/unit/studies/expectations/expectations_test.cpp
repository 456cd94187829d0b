// Every expectation follows from what was measured: where each input may be 10 % larger (nothing: become
// 0.1), or have another verdict, something else is seen. One that compares a number with itself could only
// hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/harness/study.hpp"
#include "src/results/files/result_file.hpp"

namespace mgsync { namespace {

using evaluating = std::function<evaluation(std::span<const result>)>;

void make_larger(result& r) {
  const auto change = [](double& value) { value = std::abs(value) < 1e-9 ? 0.1 : 1.1 * value; };
  for (auto& m : r.metrics) {
    for (double* const part : {&m.median, &m.ci95_low, &m.ci95_high, &m.min, &m.max}) change(*part);
    std::ranges::for_each(m.raw, change);
  }
  for (auto& one : r.samples)
    for (auto& value : one.values) change(value.value);
  for (auto& [name, one] : r.quantities)
    if (!one.unit.empty()) std::ranges::for_each(one.values, change);
}

std::map<std::string, std::string> seen_of(const evaluation& e) {
  std::map<std::string, std::string> seen;
  for (const auto& one : e.expectations) seen[one.text] = one.seen;
  return seen;
}

// The expectations of which nothing that was measured changes what is seen.
std::set<std::string> unmoved(const evaluating& evaluate, const std::vector<result>& all) {
  const auto before = seen_of(evaluate(all));
  std::set<std::string> left;
  for (const auto& [text, seen] : before) left.insert(text);
  std::mt19937 random(37);
  // An expectation of two results is missed by a trial where both change alike: one half of the trials.
  for (int trial = 0; trial < 16 && !left.empty(); ++trial) {
    auto changed = all;
    for (auto& r : changed) {
      if (random() % 2 == 0) continue;
      if (trial % 4 < 3) make_larger(r);
      else r.verdict.passed = !r.verdict.passed;
    }
    for (const auto& [text, seen] : seen_of(evaluate(changed)))
      if (const auto known = before.find(text); known != before.end() && known->second != seen)
        left.erase(text);
  }
  return left;
}

std::vector<result> results_in(const std::string& name) {
  return read_result_file(std::string(MGSYNC_RAW_FILES) + "/" + name).document.results;
}

TEST(expectations, follow_from_what_was_measured) {
  std::size_t found = 0;
  for (const auto* name : {"h200x1/levels.json.xz", "h200x1/model.json.xz", "h200x1/switch.json.xz",
                           "h200x1/reduction.json.xz", "h200x4/reduction.json.xz"}) {
    const auto all = results_in(name);
    for (const auto* const s : studies()) {
      found += s->evaluate(all).expectations.size();
      EXPECT_EQ(unmoved(s->evaluate, all), std::set<std::string>()) << name << ", study " << s->name;
    }
  }
  EXPECT_GT(found, 60u);
}

TEST(expectations, that_compare_a_number_with_itself_are_found) {
  const auto vacuous = [](std::span<const result> all) {
    evaluation e;
    const double a = all[0].metrics[0].median, b = all[1].metrics[0].median;
    e.add({"claims", "Claims"}, {{"a over a", "1", std::to_string(a / a), a / a <= 1},
                                 {"a over b", "1", std::to_string(a / b), a / b <= 1},
                                 {"passed", "", all[0].verdict.passed ? "yes" : "no", true}});
    return e;
  };
  std::vector<result> all(2);
  for (auto& r : all) r.metrics.emplace_back().median = 2;
  EXPECT_EQ(unmoved(vacuous, all), (std::set<std::string>{"a over a"}));
}

}}  // namespace mgsync
