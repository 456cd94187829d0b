#include "src/studies/barriers/barriers_evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace mgsync::barriers {
namespace {

TEST(shares_of_variance, find_what_drives_a_latency) {
  std::vector<std::vector<double>> by_blocks, by_both;
  for (const double blocks : {1.0, 2.0, 4.0, 8.0}) {
    by_blocks.emplace_back();
    by_both.emplace_back();
    for (const double threads : {32.0, 64.0, 128.0, 256.0}) {
      by_blocks.back().push_back(blocks);
      by_both.back().push_back(blocks * threads);
    }
  }
  const auto blocks = *shares_of_variance(by_blocks), both = *shares_of_variance(by_both);
  EXPECT_NEAR(blocks.rows, 1, 1e-12);
  EXPECT_NEAR(blocks.columns, 0, 1e-12);
  EXPECT_NEAR(both.rows, 0.5 * 1.0, 0.2);
  EXPECT_NEAR(both.rows + both.columns, 1, 1e-9);
  EXPECT_NEAR(both.rest, 0, 1e-9);
}

// 001, table 8, V100: the ends of each row's range. The latency of a grid barrier follows the blocks, not the threads.
TEST(shares_of_variance, agree_with_the_paper_on_grid_barriers) {
  const auto shares = *shares_of_variance({{1.435, 2.199}, {1.838, 3.485}, {2.847, 4.536}, {5.055, 6.649}, {9.207, 10.393}, {21.061, 24.785}});
  EXPECT_GT(shares.rows, 0.8);
}

TEST(shares_of_variance, refuse_what_is_no_rectangle) {
  EXPECT_THROW(shares_of_variance({{1, 2}}), std::invalid_argument);
  EXPECT_THROW(shares_of_variance({{1, 2}, {3}}), std::invalid_argument);
  EXPECT_THROW(shares_of_variance({{1, 2}, {3, 0}}), std::invalid_argument);
  EXPECT_EQ(shares_of_variance({{2, 2}, {2, 2}}), std::nullopt);
}

result at(double blocks, double threads, std::optional<double> us) {
  result r;
  r.point.subject = "grid";
  r.point.variant = "auto";
  r.point.device = topology::device::gpu;
  r.point.members = 1;
  r.point.set("blocks_per_sm", blocks);
  r.point.set("threads_per_block", threads);
  if (!us) {
    r.reason = "does not fit";
    return r;
  }
  r.status = result_status::measured;
  r.verdict.passed = true;
  metric m{metric_name{"latency", "us"}};
  m.median = m.ci95_low = m.ci95_high = *us;
  r.metrics.push_back(m);
  return r;
}

TEST(barriers_evaluation, draws_a_map_with_its_holes_and_says_what_drives_it) {
  std::vector<result> all;
  for (const double blocks : {1.0, 2.0, 4.0})
    for (const double threads : {32.0, 64.0, 1024.0})
      all.push_back(at(blocks, threads, blocks * threads > 2048 ? std::nullopt : std::optional(blocks)));
  const auto e = evaluate(all);
  ASSERT_EQ(e.figures.size(), 1U);
  const auto& map = std::get<heat_map>(e.figures[0]);
  EXPECT_EQ(map.rows, (std::vector<std::string>{"1", "2", "4"}));
  EXPECT_FALSE(map.values[2][2].has_value());
  EXPECT_EQ(map.holes[2][2], "does not fit");
  const auto full = full_rectangle(map);
  EXPECT_EQ(full.rows * full.columns, 6U);
  ASSERT_EQ(e.tables.size(), 2U);  // the fastest, and what drives
  EXPECT_EQ(e.tables[1].rows[0][3], "100 %");
}

TEST(barriers_evaluation, is_happy_with_nothing) {
  const auto e = evaluate({});
  EXPECT_TRUE(e.tables.empty() && e.figures.empty() && e.sentences.empty());
}

}  // namespace
}  // namespace mgsync::barriers
