#include "src/results/metric.hpp"

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
  m.min = minimum(all);
  m.spread = spread(all);
  m.samples = all.size();
  return m;
}

}  // namespace mgsync
