// The statistics of docs/method.md, "Statistics": robust, without assumptions on a distribution, the same for
// every backend. The batch (the samples taken with one object) is the unit of replication, so that
// differences from one object to the next, such as where its flags lie in memory, are part of the spread. In
// simulated series with a known truth (2 % jitter, 1 % spikes, 2.5 % shift from batch to batch;
// tests/unit/harness/statistics_test.cpp) the interval over 6 to 10 batches covers the truth in 96 to 99 % of
// the series, the interval over 200 samples of one batch in 12 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/results/values/result.hpp"

namespace mgsync {

// The fewest batches whose order statistics can enclose the median with 95 % confidence.
inline constexpr std::size_t batches_for_an_interval = 6;
// The fewest samples for which percentiles are reported.
inline constexpr std::size_t samples_for_percentiles = 100;

// The following functions take values in any order and return a value in their unit. They throw
// std::invalid_argument without values.
double median(std::span<const double> values);
// The one in the middle, of two the larger: a value that was measured. 0 where there are none.
double middle_one(std::vector<double> values);
double minimum(std::span<const double> values);
// The p-quantile, 0 <= p <= 1, linear between order statistics (Hyndman and Fan's type 7).
double quantile(std::span<const double> values, double p);
// Median of the absolute deviations from the median.
double median_absolute_deviation(std::span<const double> values);
// 1.4826 x the median absolute deviation: for Gaussian values an estimate of the standard deviation.
double robust_sigma(std::span<const double> values);
// Half the width of the central 68 %: for a Gaussian the standard deviation. Up to 16 % outliers on either
// side do not affect it.
double spread(std::span<const double> values);

// An interval that encloses the median of what the values were drawn from, with at least the stated
// probability.
struct interval {
  double low = 0;
  double high = 0;
  double confidence =
      0;  // if the values are independent; below the wanted one, low and high are the extremes
};

// The narrowest pair of order statistics, equally far from both ends, that encloses the median with at least
// the wanted probability (binomial, no assumption on the distribution but independence). Where even the
// extremes do not, they are returned, and `confidence` says what they are worth: 0.94 for 5 values, 0 for
// one.
interval median_interval(std::span<const double> values, double wanted = 0.95);

// The values of column `name` by batch, in the order of the batches' first appearance; batches without such
// values are left out.
std::vector<std::vector<double>> batches_of(std::span<const sample> samples, std::string_view name);

// A sample of docs/method.md, "Barrier latency", a pair of runs measured back to back: "latency" per round in
// us, and what it comes from: short_us and long_us, the durations T of rounds_short and rounds_long rounds.
sample difference_sample(std::uint32_t batch, double short_us, double long_us, std::uint32_t rounds_short,
                         std::uint32_t rounds_long);

// Eq. 8: the standard deviation of one sample's latency, in us per round, expected from the spreads of
// T(rounds_short) and T(rounds_long). Where the numbers of rounds differ, the variances of each pair of
// numbers are pooled. Nothing where the samples are not differences of two runs.
std::optional<double> sigma_of_difference(std::span<const sample> samples);

// Upper bound of the violations per round, with 95 % confidence, when none was seen in `rounds` (the rule of
// three).
double upper_bound(std::uint64_t rounds);

// The metric of column `name.name` of the samples, with all its statistics. Samples without that value are
// left out; throws std::invalid_argument where none has it.
metric summarize(const metric_name& name, std::span<const sample> samples);
// The metrics of all these names for which the samples have values.
std::vector<metric> summarize_all(const std::vector<metric_name>& names, std::span<const sample> samples);

}  // namespace mgsync
