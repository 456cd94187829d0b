// What docs/method.md, "Statistics" says: robust, without assumptions on a distribution, the same for every
// backend. The batch (one life of a barrier object) is the unit of replication: where a flag lands in memory
// and what else shifts from one object to the next is part of the spread. In series made up with a known
// truth (2 % jitter, 1 % spikes, 2.5 % shift from batch to batch; tests/unit/harness/statistics_test.cpp) the
// interval over 6 to 10 batches covers the truth in 96 to 99 % of the series, the interval over 200 samples
// of one batch in 12 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/results/result.hpp"

namespace mgsync {

// With fewer batches no order statistics enclose the median with 95 % confidence.
inline constexpr std::size_t batches_for_an_interval = 6;
// Below this number of samples no percentiles are given.
inline constexpr std::size_t samples_for_percentiles = 100;

// All of these take the values in any order, need at least one (std::invalid_argument otherwise) and keep
// their unit.
double median(std::span<const double> values);
double minimum(std::span<const double> values);
// The p-quantile, 0 <= p <= 1, linear between order statistics (Hyndman and Fan's type 7).
double quantile(std::span<const double> values, double p);
// Median of the absolute deviations from the median.
double median_absolute_deviation(std::span<const double> values);
// Standard deviation as a Gaussian core would have it: 1.4826 x the median absolute deviation.
double robust_sigma(std::span<const double> values);
// Half the central 68 %: the standard deviation of a Gaussian; outliers up to 16 % on either side do not
// matter.
double spread(std::span<const double> values);

// An interval that encloses the median of what the values were drawn from, with at least the stated
// probability.
struct interval {
  double low = 0;
  double high = 0;
  double confidence = 0;  // of independent values; below the wanted one, low and high are the extremes
};

// The narrowest pair of order statistics, equally far from both ends, that encloses the median with at least
// the wanted probability (binomial, no assumption on the distribution but independence). Where even the
// extremes do not, they are returned, and `confidence` says what they are worth: 0.94 for 5 values, 0 for
// one.
interval median_interval(std::span<const double> values, double wanted = 0.95);

// The values of column `name` by batch, in the order of the batches' first appearance; batches without any
// are left out.
std::vector<std::vector<double>> batches_of(std::span<const sample> samples, std::string_view name);

// A sample of docs/method.md, "Barrier latency", a pair of runs measured back to back: "latency" per round in
// us, and what it comes from: short_us and long_us, the durations T of rounds_short and rounds_long rounds.
sample difference_sample(std::uint32_t batch, double short_us, double long_us, std::uint32_t rounds_short,
                         std::uint32_t rounds_long);

// Eq. 8: the standard deviation of one sample's latency that the spreads of T(rounds_short) and
// T(rounds_long) let expect, in us per round. Samples of different rounds are taken by themselves and their
// variances pooled. Nothing where the samples are no differences of two runs.
std::optional<double> sigma_of_difference(std::span<const sample> samples);

// Violations per round, at most, with 95 % confidence, when none was seen in `rounds` (the rule of three).
double upper_bound(std::uint64_t rounds);

// Everything that is reported of column `name.name` of the samples. Samples without that value do not count;
// where none has it, std::invalid_argument.
metric summarize(const metric_name& name, std::span<const sample> samples);
// Those of these metrics that the samples have a value of.
std::vector<metric> summarize_all(const std::vector<metric_name>& names, std::span<const sample> samples);

}  // namespace mgsync
