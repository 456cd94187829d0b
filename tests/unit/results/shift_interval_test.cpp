#include "src/results/comparison/shift_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <vector>

#include "src/results/values/statistics.hpp"

namespace mgsync { namespace {

std::vector<double> drawn(std::mt19937_64& random, int count, double centre) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    // A long tail, as latencies have.
    const double e = std::exponential_distribution<double>(1)(random);
    values.push_back(centre + 0.1 * std::normal_distribution<double>()(random) + (e > 2 ? 0.3 * e : 0));
  }
  return values;
}

// All 12 differences by hand: -1 0 1 2 | 1 2 3 4 | 4 5 6 7.
TEST(shift_interval, of_a_few_known_values) {
  const std::vector<double> base{4, 1, 3, 2}, now{3, 5, 8};
  const shift_interval shift = shift_between(base, now);
  EXPECT_DOUBLE_EQ(shift.estimate, 2.5);
  // 3 and 4 values: P(U = 0) = 1 / 35.
  EXPECT_DOUBLE_EQ(shift.confidence, 1 - 2.0 / 35);
  EXPECT_EQ(shift.low, -1);
  EXPECT_EQ(shift.high, 7);
  // 90 %: one more pair is given up at either end; P(U <= 1) = 2 / 35.
  const shift_interval narrower = shift_between(base, now, 0.88);
  EXPECT_NEAR(narrower.confidence, 1 - 4.0 / 35, 1e-12);
  EXPECT_EQ(narrower.low, 0);
  EXPECT_EQ(narrower.high, 6);
}

// Of 35 ways to rank 3 and 4 values, one has all three above, and four have U of at least 10.
TEST(shift_interval, the_chance_to_lie_above_is_that_of_the_ranks) {
  EXPECT_NEAR(chance_above(std::vector<double>{1.0, 2, 3, 4}, std::vector<double>{5.0, 6, 7}), 1.0 / 35,
              1e-12);
  EXPECT_NEAR(chance_above(std::vector<double>{1.0, 2, 3, 6.5}, std::vector<double>{5.0, 6, 7}), 4.0 / 35,
              1e-12);
  EXPECT_NEAR(chance_above(std::vector<double>{5.0, 6, 7}, std::vector<double>{1.0, 2, 3, 4}), 1, 1e-12);
  // Many values: the Gaussian's, about a half without a shift; equal values do not count as above.
  std::vector<double> many;
  for (int i = 0; i < 100; ++i) many.push_back(i);
  EXPECT_NEAR(chance_above(many, many), 0.55, 0.01);
}

// Critical values of Mann and Whitney, two-sided 5 %, as tabulated: the interval leaves out that many
// differences.
TEST(shift_interval, leaves_out_the_tabulated_number_of_differences) {
  struct known {
    int m, n, critical;
  };
  for (const known& k :
       {known{4, 4, 0}, known{5, 5, 2}, known{6, 6, 5}, known{7, 7, 8}, known{8, 8, 13}, known{10, 10, 23},
        known{12, 9, 26}, known{20, 20, 127}, known{5, 8, 6}, known{3, 5, 0}}) {
    std::mt19937_64 random(3);
    const auto base = drawn(random, k.m, 1), now = drawn(random, k.n, 2);
    std::vector<double> differences;
    for (const double a : base)
      for (const double b : now) differences.push_back(b - a);
    std::sort(differences.begin(), differences.end());
    const shift_interval shift = shift_between(base, now);
    const auto dropped = static_cast<std::size_t>(k.critical);
    EXPECT_EQ(shift.low, differences[dropped]) << k.m << " and " << k.n;
    EXPECT_EQ(shift.high, differences[differences.size() - 1 - dropped]) << k.m << " and " << k.n;
    EXPECT_DOUBLE_EQ(shift.estimate, median(differences));
    EXPECT_GE(shift.confidence, 0.95);
  }
}

TEST(shift_interval, of_too_few_values_is_the_range_and_says_what_it_is_worth) {
  const shift_interval shift = shift_between(std::vector{1.0}, std::vector{2.0, 4.0});
  EXPECT_EQ(shift.low, 1);
  EXPECT_EQ(shift.high, 3);
  EXPECT_NEAR(shift.confidence, 1.0 / 3, 1e-12);
  EXPECT_EQ(shift_between(std::vector{1.0}, std::vector{2.0}).confidence, 0);
  EXPECT_NEAR(best_confidence(4, 4), 1 - 2.0 / 70, 1e-12);
  EXPECT_LT(best_confidence(3, 4), 0.95);
  EXPECT_GE(best_confidence(3, 5), 0.95);
  EXPECT_THROW(shift_between({}, std::vector{1.0}), std::invalid_argument);
}

TEST(shift_interval, of_equal_values_has_no_width) {
  const shift_interval shift = shift_between(std::vector<double>(8, 2.0), std::vector<double>(8, 2.0));
  EXPECT_EQ(shift.estimate, 0);
  EXPECT_EQ(shift.low, 0);
  EXPECT_EQ(shift.high, 0);
}

TEST(shift_interval, of_very_many_values_is_that_of_the_limit) {
  std::mt19937_64 random(5);
  const auto base = drawn(random, 6000, 1), now = drawn(random, 5000, 1.05);
  const shift_interval shift = shift_between(base, now);
  EXPECT_NEAR(shift.estimate, 0.05, 0.006);
  EXPECT_LT(shift.low, 0.05);
  EXPECT_GT(shift.high, 0.05);
  EXPECT_LT(shift.high - shift.low, 0.02);
  // Where both ways can be gone, they meet.
  const auto a = drawn(random, 63, 1), b = drawn(random, 63, 1), c = drawn(random, 64, 1);
  EXPECT_NEAR(shift_between(a, b).high - shift_between(a, b).low,
              shift_between(a, c).high - shift_between(a, c).low, 0.02);
}

TEST(shift_interval, covers_the_shift_as_often_as_it_says) {
  constexpr int series = 2000;
  for (const auto& [m, n] : {std::pair{6, 6}, std::pair{8, 12}, std::pair{70, 80}}) {
    int covered = 0;
    double claimed = 0;
    for (int seed = 0; seed < series; ++seed) {
      std::mt19937_64 random(static_cast<std::uint64_t>(seed));
      const auto base = drawn(random, m, 1), now = drawn(random, n, 1.07);
      const shift_interval shift = shift_between(base, now);
      covered += shift.low <= 0.07 && 0.07 <= shift.high;
      claimed = shift.confidence;
    }
    const double share = static_cast<double>(covered) / series;
    std::printf("%d and %d values: covered in %.1f %%, claimed %.1f %%\n", m, n, 100 * share, 100 * claimed);
    EXPECT_NEAR(share, claimed, 0.015);
  }
}

}}  // namespace mgsync
