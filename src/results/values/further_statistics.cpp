#include "src/results/values/metric.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {

std::span<const further_statistic> further_statistics() {
  static constexpr further_statistic table[] = {
      {"p5", samples_for_percentiles,
       [](std::span<const double> samples) { return quantile(samples, 0.05); }},
      {"p95", samples_for_percentiles,
       [](std::span<const double> samples) { return quantile(samples, 0.95); }},
  };
  return table;
}

}  // namespace mgsync
