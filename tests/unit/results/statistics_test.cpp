#include "src/results/values/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include "made_up_series.hpp"

namespace mgsync { namespace {

std::vector<double> counted(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  std::shuffle(values.begin(), values.end(), std::mt19937(7));
  return values;
}

TEST(statistics, order_statistics_of_known_values) {
  EXPECT_DOUBLE_EQ(median(std::vector{3.0, 1.0, 2.0}), 2);
  EXPECT_DOUBLE_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector{5.0}), 5);
  EXPECT_DOUBLE_EQ(minimum(std::vector{3.0, -1.0, 2.0}), -1);
  const auto values = counted(101);
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 101);
  EXPECT_DOUBLE_EQ(quantile(values, 0.05), 6);
  EXPECT_DOUBLE_EQ(quantile(std::vector{0.0, 1.0}, 0.25), 0.25);
}

TEST(statistics, deviations_of_known_values) {
  EXPECT_DOUBLE_EQ(median_absolute_deviation(std::vector{1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0}), 1);
  EXPECT_NEAR(robust_sigma(std::vector{1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0}), 1.4826, 1e-4);
  EXPECT_DOUBLE_EQ(spread(std::vector{7.0}), 0);
  EXPECT_NEAR(spread(counted(1001)), 0.34134 * 1000, 0.1);
}

TEST(statistics, deviations_of_a_gaussian_with_outliers_are_its_sigma) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> gauss(10, 0.5);
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) values.push_back(i % 50 == 0 ? 1000 : gauss(random));
  EXPECT_NEAR(median(values), 10, 0.03);
  EXPECT_NEAR(robust_sigma(values), 0.5, 0.025);
  EXPECT_NEAR(spread(values), 0.5, 0.025);
}

TEST(statistics, nothing_has_no_statistics) {
  const std::vector<double> none;
  EXPECT_THROW(median(none), std::invalid_argument);
  EXPECT_THROW(quantile(none, 0.5), std::invalid_argument);
  EXPECT_THROW(median_interval(none), std::invalid_argument);
  EXPECT_THROW(summarize({"latency", "us"}, {}), std::invalid_argument);
  EXPECT_THROW(quantile(counted(3), 1.5), std::invalid_argument);
}

// Tabulated: Conover, Practical Nonparametric Statistics, and the binomial by hand.
TEST(statistics, interval_of_the_median_takes_the_tabulated_order_statistics) {
  struct known {
    int n;
    double low, high, confidence;
  };
  for (const known& k :
       {known{6, 1, 6, 0.96875}, known{7, 1, 7, 0.984375}, known{8, 1, 8, 0.9921875},
        known{9, 2, 8, 0.9609375}, known{10, 2, 9, 0.978515625}, known{12, 3, 10, 0.961426},
        known{20, 6, 15, 0.958611}, known{50, 18, 33, 0.967161}, known{100, 40, 61, 0.9648}}) {
    const interval ci = median_interval(counted(k.n));
    EXPECT_EQ(ci.low, k.low) << k.n;
    EXPECT_EQ(ci.high, k.high) << k.n;
    EXPECT_NEAR(ci.confidence, k.confidence, 1e-5) << k.n;
  }
}

TEST(statistics, interval_of_few_values_is_their_range_and_says_what_it_is_worth) {
  const double worth[] = {0, 0.5, 0.75, 0.875, 0.9375};
  for (int n = 1; n <= 5; ++n) {
    const interval ci = median_interval(counted(n));
    EXPECT_EQ(ci.low, 1);
    EXPECT_EQ(ci.high, n);
    EXPECT_DOUBLE_EQ(ci.confidence, worth[n - 1]);
  }
}

TEST(statistics, interval_of_very_many_values_neither_underflows_nor_widens) {
  const interval ci = median_interval(counted(20001));
  EXPECT_NEAR(ci.low, 10001 - 1.96 * std::sqrt(20001) / 2, 2);
  EXPECT_NEAR(ci.high, 10001 + 1.96 * std::sqrt(20001) / 2, 2);
  EXPECT_NEAR(ci.confidence, 0.95, 0.002);
}

TEST(statistics, equal_values_have_an_interval_without_width) {
  const interval ci = median_interval(std::vector<double>(12, 3.5));
  EXPECT_EQ(ci.low, 3.5);
  EXPECT_EQ(ci.high, 3.5);
}

TEST(statistics, the_batch_is_the_unit) {
  std::vector<sample> series;
  // One batch of many slow samples counts as much as five of one sample.
  for (int i = 0; i < 95; ++i) series.push_back(difference_sample(0, 10, 10 + 100 * 9.0, 10, 110));
  for (std::uint32_t batch = 1; batch <= 5; ++batch)
    series.push_back(difference_sample(batch, 10, 10 + 100.0 * batch, 10, 110));
  const metric summary = summarize(metric_name{"latency", "us"}, series);
  EXPECT_EQ(summary.raw, (std::vector<double>{9, 1, 2, 3, 4, 5}));
  EXPECT_DOUBLE_EQ(summary.median, 3.5);
  EXPECT_DOUBLE_EQ(summary.ci95_low, 1);
  EXPECT_DOUBLE_EQ(summary.ci95_high, 9);
  EXPECT_DOUBLE_EQ(summary.confidence, 0.96875);
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_TRUE(summary.further.at(0).has_value());
  series.pop_back();
  EXPECT_FALSE(summarize(metric_name{"latency", "us"}, series).further.at(0).has_value());
  EXPECT_LT(summarize(metric_name{"latency", "us"}, series).confidence, 0.95);
}

TEST(statistics, sigma_of_latency_is_equation_8) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> short_noise(0, 0.3), long_noise(0, 0.4);
  std::vector<sample> series;
  for (int i = 0; i < 5000; ++i)
    series.push_back(difference_sample(0, 20 + short_noise(random), 220 + long_noise(random), 10, 110));
  EXPECT_NEAR(*sigma_of_difference(series), 0.5 / 100, 0.0002);
  // Other rounds, chosen anew after a resume, shift T but are no spread.
  for (int i = 0; i < 5000; ++i)
    series.push_back(difference_sample(1, 40 + short_noise(random), 440 + long_noise(random), 20, 220));
  EXPECT_NEAR(*sigma_of_difference(series), std::sqrt((std::pow(0.5 / 100, 2) + std::pow(0.5 / 200, 2)) / 2),
              0.0002);
}

double coverage(int batches, int per_batch, const test::truth& real) {
  constexpr int seeds = 2000;
  int covered = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    test::made_up_series source(real, static_cast<std::uint64_t>(seed));
    std::vector<sample> series;
    for (int batch = 0; batch < batches; ++batch) source.add_batch(series, per_batch);
    const metric summary = summarize(metric_name{"latency", "us"}, series);
    covered += summary.ci95_low <= real.latency_us && real.latency_us <= summary.ci95_high;
  }
  return static_cast<double>(covered) / seeds;
}

TEST(statistics, interval_over_batches_covers_the_truth) {
  for (const int batches : {6, 7, 8, 9, 10}) {
    const double share = coverage(batches, 20, {});
    std::printf("interval over %d batches: covers the truth in %.1f %% of 2000 series\n", batches,
                100 * share);
    EXPECT_GE(share, 0.93) << batches;
    EXPECT_LE(share, batches == 8 ? 0.998 : 0.99)
        << batches;  // 8: only the range is wide enough, worth 99.2 %
  }
}

TEST(statistics, interval_over_the_samples_of_one_batch_does_not) {
  constexpr int seeds = 2000;
  int covered = 0, covered_without_shift = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    for (const bool shifted : {true, false}) {
      test::truth real;
      if (!shifted) real.batch_shift = 0;
      test::made_up_series source(real, static_cast<std::uint64_t>(seed));
      std::vector<sample> series;
      source.add_batch(series, 200);
      std::vector<double> latencies;
      for (const sample& one : series) latencies.push_back(one.at("latency"));
      const interval ci = median_interval(latencies);
      (shifted ? covered : covered_without_shift) += ci.low <= real.latency_us && real.latency_us <= ci.high;
    }
  }
  std::printf(
      "interval over 200 samples of one batch: covers the truth in %.1f %%; without the shift in %.1f %%\n",
      100.0 * covered / seeds, 100.0 * covered_without_shift / seeds);
  EXPECT_LT(covered, 0.3 * seeds);
  EXPECT_GT(covered_without_shift, 0.92 * seeds);
}

TEST(statistics, bounds_what_was_not_seen_by_the_rule_of_three) {
  EXPECT_DOUBLE_EQ(upper_bound(10'000), 3e-4);
  EXPECT_DOUBLE_EQ(upper_bound(0), 1);
  EXPECT_DOUBLE_EQ(upper_bound(1), 1);
}

}}  // namespace mgsync
