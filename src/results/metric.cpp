#include "src/results/metric.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "src/results/statistics.hpp"

namespace mgsync {

metric summarize_batches(const metric_name& name, const std::vector<std::vector<double>>& batches) {
  metric m{name};
  std::vector<double> all;
  for (const auto& batch : batches) {
    if (batch.empty()) continue;
    m.raw.push_back(median(batch));
    all.insert(all.end(), batch.begin(), batch.end());
  }
  const interval ci = median_interval(m.raw);
  m.median = median(m.raw);
  m.ci95_low = ci.low;
  m.ci95_high = ci.high;
  m.confidence = ci.confidence;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  m.min = *least;
  m.max = *most;
  m.spread = spread(all);
  m.samples = all.size();
  if (all.size() >= samples_for_percentiles) {
    m.p5 = quantile(all, 0.05);
    m.p95 = quantile(all, 0.95);
  }
  return m;
}

std::string column_name(const metric_name& one) {
  return one.unit.empty() ? one.name : fmt::format("{}_{}", one.name, one.unit);
}

bool is_a_time(const metric_name& one) {
  constexpr std::string_view times[] = {"s", "ms", "us", "ns", "cycles"};
  return std::find(std::begin(times), std::end(times), one.unit) != std::end(times);
}

double times_worse(const metric& best, const metric& value) {
  return best.better == better::less ? value.median / best.median : best.median / value.median;
}

double sample::at(std::string_view name) const {
  const auto found =
      std::find_if(values.begin(), values.end(), [name](const named_value& one) { return one.name == name; });
  return found == values.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

}  // namespace mgsync
