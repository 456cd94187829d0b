#include "src/studies/launch/launch_evaluation.hpp"

#include <gtest/gtest.h>


namespace mgsync::launch {
namespace {

// 004, figure 6, V100: what is neither call nor execution is 4735, 4830 and 5648 ns exactly.
TEST(launch_parts, give_the_posters_other_overhead) {
  EXPECT_DOUBLE_EQ((parts{2545, 993, 8273}.other_ns()), 4735);
  EXPECT_DOUBLE_EQ((parts{3388, 1015, 9233}.other_ns()), 4830);
  EXPECT_DOUBLE_EQ((parts{3455, 1287, 10390}.other_ns()), 5648);
}

result measured(std::string kind, std::string quantity, std::vector<std::pair<std::string, double>> medians_us) {
  result r;
  r.point.study = "launch";
  r.point.subject = std::move(kind);
  r.point.device = topology::device::gpu;
  r.point.members = 1;
  r.point.set("quantity", std::move(quantity));
  r.point.set("blocks_per_sm", 1.0);
  r.point.set("threads_per_block", 32.0);
  r.status = result_status::measured;
  for (auto& [name, value] : medians_us) {
    metric m{metric_name{name, "us"}};
    m.median = m.ci95_low = m.ci95_high = value;
    r.metrics.push_back(m);
  }
  return r;
}

result barrier(std::string subject, double latency_us) {
  auto r = measured(std::move(subject), "", {{"latency", latency_us}});
  r.point.study = "barriers";
  r.point.remove("quantity");
  r.verdict.passed = true;
  return r;
}

TEST(launch_evaluation, puts_the_parts_of_each_launch_into_one_row_and_one_bar) {
  const std::vector<result> all{measured("traditional", "null", {{"latency", 2.541}, {"call", 2.545}}),
                                measured("traditional", "total", {{"time", 8.273}}),
                                measured("traditional", "fused", {{"overhead", 0.993}, {"unit", 5}})};
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  EXPECT_EQ(e.tables[0].rows[0].back(), "4735");
  EXPECT_EQ(e.tables[0].rows.size(), 1U + 3U);  // and the paper's V100
  ASSERT_EQ(e.figures.size(), 1U);
  EXPECT_EQ(std::get<bar_chart>(e.figures[0]).bars[0].parts, (std::vector<double>{2545, 993, 8273 - 2545 - 993}));
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_NE(e.sentences[0].find("0.99 us"), std::string::npos) << e.sentences[0];
}

TEST(launch_evaluation, says_when_a_new_kernel_is_worth_its_launch) {
  std::vector<result> all{measured("traditional", "fused", {{"overhead", 1.40}, {"unit", 20}}), barrier("grid", 0.75)};
  const auto e = evaluate(all);
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_NE(e.sentences[0].find("when it saves more than 0.65 us"), std::string::npos) << e.sentences[0];
  // Cheaper than every barrier inside.
  all[1].metrics[0].median = 1.5;
  EXPECT_NE(evaluate(all).sentences.at(0).find("not slower than to synchronize inside"), std::string::npos);
}

TEST(launch_evaluation, takes_no_launch_for_a_barrier_of_several_gpus) {
  std::vector<result> all{measured("traditional", "fused", {{"overhead", 1.40}, {"unit", 20}}), barrier("multigrid", 2.1)};
  for (auto& r : all) r.point.members = 2;
  EXPECT_TRUE(evaluate(all).sentences.empty());
  all.push_back(barrier("kernel-boundary", 3.8));
  all.back().point.members = 2;
  ASSERT_EQ(evaluate(all).sentences.size(), 1U);
  EXPECT_NE(evaluate(all).sentences[0].find("more than 1.70 us (kernel-boundary"), std::string::npos) << evaluate(all).sentences[0];
}

TEST(launch_evaluation, is_happy_with_nothing) { EXPECT_TRUE(evaluate({}).tables.empty()); }

}  // namespace
}  // namespace mgsync::launch
