#include "src/results/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace mgsync {
namespace {

std::vector<double> sorted(std::span<const double> values, const char* what) {
  if (values.empty()) throw std::invalid_argument(std::string(what) + " of no values");
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double quantile_of_sorted(const std::vector<double>& values, double p) {
  if (!(p >= 0 && p <= 1)) throw std::invalid_argument("a quantile lies between 0 and 1");
  const double place = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double fraction = place - static_cast<double>(below);
  return values[below] + fraction * (values[above] - values[below]);
}

// The central 68.27 % of a Gaussian lie between these quantiles.
constexpr double one_sigma_below = 0.158655;
constexpr double one_sigma_above = 0.841345;

double spread_of_sorted(const std::vector<double>& values) {
  return (quantile_of_sorted(values, one_sigma_above) - quantile_of_sorted(values, one_sigma_below)) / 2;
}

// Probability that exactly k of n values fall below the median.
double binomial_half(std::size_t k, std::size_t n) {
  const auto count = static_cast<double>(n);
  const auto hits = static_cast<double>(k);
  return std::exp(std::lgamma(count + 1) - std::lgamma(hits + 1) - std::lgamma(count - hits + 1) -
                  count * std::log(2.0));
}

}  // namespace

double median(std::span<const double> values) { return quantile_of_sorted(sorted(values, "median"), 0.5); }

double minimum(std::span<const double> values) { return sorted(values, "minimum").front(); }

double quantile(std::span<const double> values, double p) { return quantile_of_sorted(sorted(values, "quantile"), p); }

double median_absolute_deviation(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return median(deviations);
}

double robust_sigma(std::span<const double> values) { return 1.482602 * median_absolute_deviation(values); }

double spread(std::span<const double> values) { return spread_of_sorted(sorted(values, "spread")); }

interval median_interval(std::span<const double> values, double wanted) {
  const std::vector<double> ordered = sorted(values, "interval");
  const std::size_t n = ordered.size();
  if (n == 1) return {ordered.front(), ordered.front(), 0};
  double confidence = 1 - 2 * binomial_half(0, n);
  std::size_t dropped = 0;  // order statistics given up at either end
  while (2 * (dropped + 1) + 1 < n) {
    const double next = confidence - 2 * binomial_half(dropped + 1, n);
    if (next < wanted) break;
    confidence = next;
    ++dropped;
  }
  return {ordered[dropped], ordered[n - 1 - dropped], confidence};
}

std::vector<double> batch_medians(std::span<const sample> samples) {
  std::vector<std::uint32_t> order;
  std::map<std::uint32_t, std::vector<double>> latencies;
  for (const sample& one : samples) {
    auto& batch = latencies[one.batch];
    if (batch.empty()) order.push_back(one.batch);
    batch.push_back(one.latency_us());
  }
  std::vector<double> medians;
  medians.reserve(order.size());
  for (const std::uint32_t batch : order) medians.push_back(median(latencies[batch]));
  return medians;
}

double sigma_of_latency(std::span<const sample> samples) {
  if (samples.empty()) throw std::invalid_argument("sigma of no samples");
  struct runs {
    std::vector<double> short_us, long_us;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, runs> by_rounds;
  for (const sample& one : samples) {
    runs& same = by_rounds[{one.rounds_short, one.rounds_long}];
    same.short_us.push_back(one.short_us);
    same.long_us.push_back(one.long_us);
  }
  double pooled = 0;
  for (const auto& [rounds, same] : by_rounds) {
    const double difference = static_cast<double>(rounds.second) - static_cast<double>(rounds.first);
    const double sigma = std::hypot(spread(same.short_us), spread(same.long_us)) / difference;
    pooled += static_cast<double>(same.short_us.size()) * sigma * sigma;
  }
  return std::sqrt(pooled / static_cast<double>(samples.size()));
}

double upper_bound(std::uint64_t rounds) { return rounds == 0 ? 1.0 : std::min(1.0, 3.0 / static_cast<double>(rounds)); }

latency_summary summarize(std::span<const sample> samples) {
  if (samples.empty()) throw std::invalid_argument("summary of no samples");
  std::vector<double> latencies;
  latencies.reserve(samples.size());
  for (const sample& one : samples) latencies.push_back(one.latency_us());
  std::sort(latencies.begin(), latencies.end());
  const std::vector<double> medians = batch_medians(samples);
  const interval ci = median_interval(medians);

  latency_summary summary;
  summary.median = median(medians);
  summary.ci95_low = ci.low;
  summary.ci95_high = ci.high;
  summary.confidence = ci.confidence;
  summary.min = latencies.front();
  summary.sigma = sigma_of_latency(samples);
  summary.spread = spread_of_sorted(latencies);
  if (latencies.size() >= samples_for_percentiles) {
    summary.p5 = quantile_of_sorted(latencies, 0.05);
    summary.p95 = quantile_of_sorted(latencies, 0.95);
  }
  return summary;
}

}  // namespace mgsync
