#include "src/results/values/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/math/distributions/binomial.hpp>

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

}  // namespace

double middle_one(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median(std::span<const double> values) { return quantile_of_sorted(sorted(values, "median"), 0.5); }

double minimum(std::span<const double> values) { return sorted(values, "minimum").front(); }

double quantile(std::span<const double> values, double p) {
  return quantile_of_sorted(sorted(values, "quantile"), p);
}

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
  const boost::math::binomial below_the_median(static_cast<double>(n), 0.5);
  double confidence = 1 - 2 * pdf(below_the_median, 0);
  std::size_t dropped = 0;  // order statistics left out at either end
  while (2 * (dropped + 1) + 1 < n) {
    const double next = confidence - 2 * pdf(below_the_median, static_cast<double>(dropped + 1));
    if (next < wanted) break;
    confidence = next;
    ++dropped;
  }
  return {ordered[dropped], ordered[n - 1 - dropped], confidence};
}

std::vector<std::vector<double>> batches_of(std::span<const sample> samples, std::string_view name) {
  std::map<std::uint32_t, std::size_t> place;
  std::vector<std::vector<double>> batches;
  for (const sample& one : samples) {
    const double value = one.at(name);
    if (std::isnan(value)) continue;
    const auto [found, fresh] = place.try_emplace(one.batch, batches.size());
    if (fresh) batches.emplace_back();
    batches[found->second].push_back(value);
  }
  return batches;
}

sample difference_sample(std::uint32_t batch, double short_us, double long_us, std::uint32_t rounds_short,
                         std::uint32_t rounds_long) {
  const auto fewer = static_cast<double>(rounds_short), more = static_cast<double>(rounds_long);
  return {batch,
          {{"latency", (long_us - short_us) / (more - fewer)},
           {"short_us", short_us},
           {"long_us", long_us},
           {"rounds_short", fewer},
           {"rounds_long", more}}};
}

std::optional<double> sigma_of_difference(std::span<const sample> samples) {
  struct runs {
    std::vector<double> short_us, long_us;
  };
  std::map<std::pair<double, double>, runs> by_rounds;
  for (const sample& one : samples) {
    const double short_us = one.at("short_us"), long_us = one.at("long_us");
    const std::pair rounds{one.at("rounds_short"), one.at("rounds_long")};
    if (std::isnan(short_us + long_us + rounds.first + rounds.second)) return std::nullopt;
    by_rounds[rounds].short_us.push_back(short_us);
    by_rounds[rounds].long_us.push_back(long_us);
  }
  if (samples.empty()) return std::nullopt;
  double pooled = 0;
  for (const auto& [rounds, same] : by_rounds) {
    const double sigma =
        std::hypot(spread(same.short_us), spread(same.long_us)) / (rounds.second - rounds.first);
    pooled += static_cast<double>(same.short_us.size()) * sigma * sigma;
  }
  return std::sqrt(pooled / static_cast<double>(samples.size()));
}

double upper_bound(std::uint64_t rounds) {
  return rounds == 0 ? 1.0 : std::min(1.0, 3.0 / static_cast<double>(rounds));
}

metric summarize(const metric_name& name, std::span<const sample> samples) {
  metric summary = summarize_batches(name, batches_of(samples, name.name));
  if (name.name == "latency") summary.sigma = sigma_of_difference(samples);
  return summary;
}

std::vector<metric> summarize_all(const std::vector<metric_name>& names, std::span<const sample> samples) {
  std::vector<metric> all;
  for (const metric_name& one : names)
    if (!batches_of(samples, one.name).empty()) all.push_back(summarize(one, samples));
  return all;
}

}  // namespace mgsync
