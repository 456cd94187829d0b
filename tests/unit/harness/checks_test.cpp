#include "src/harness/checks.hpp"

#include <gtest/gtest.h>

namespace mgsync { namespace {

seen run_of(check_counts counts, std::string fault = "") {
  return {.done = {.fault = std::move(fault)}, .checked = std::move(counts)};
}

TEST(checks, add_up_and_keep_the_first_example) {
  checks all;
  all.add(run_of({.rounds = 1}, "spoiled"));
  all.add(seen{});  // compared nothing: says nothing
  EXPECT_EQ(all.rounds(), 0U);
  EXPECT_EQ(all.unnoticed(), 1U) << "the control was not found wrong";
  EXPECT_FALSE(all.judge(verdict_kind::sum).control_flagged);
  all = {};
  all.add(run_of({1, 1, 1, "of the control"}, "spoiled"));
  EXPECT_FALSE(all.judge(verdict_kind::rounds).passed) << "nothing was checked yet";
  all.add(run_of({10, 40, 0, ""}));
  auto v = all.judge(verdict_kind::rounds);
  EXPECT_TRUE(v.passed && v.control_flagged && all.show_something());
  EXPECT_EQ(v.rounds, 10U);
  EXPECT_EQ(v.observations, 40U);
  EXPECT_DOUBLE_EQ(v.bound.value(), 0.3);
  EXPECT_EQ(all.example(), "");
  all.add(run_of({10, 40, 2, "the first"}));
  all.add(run_of({10, 40, 1, "the second"}));
  v = all.judge(verdict_kind::sum);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.violations, 3U);
  EXPECT_FALSE(v.bound) << "rounds alone are bounded";
  EXPECT_EQ(all.example(), "the first");
}

TEST(checks, every_control_must_be_noticed) {
  checks all;
  all.add(run_of({1, 1, 0, ""}));
  EXPECT_FALSE(all.judge(verdict_kind::sum).passed) << "without a control";
  all.add(run_of({1, 1, 1, ""}, "spoiled"));
  EXPECT_TRUE(all.judge(verdict_kind::sum).passed);
  all.add(run_of({1, 1, 0, ""}, "spoiled"));
  EXPECT_FALSE(all.judge(verdict_kind::sum).passed);
  EXPECT_EQ(all.controls(), 2U);
  EXPECT_EQ(all.unnoticed(), 1U);
}

}}  // namespace mgsync
