// One figure of a result, in its unit, with what is known of its uncertainty.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mgsync {

enum class better { less, more };  // which of two values a reader prefers

struct metric_name {
  std::string name;
  std::string unit;  // "us", "cycles", "GB/s"; empty: a pure number
  mgsync::better better = mgsync::better::less;
};

struct metric : metric_name {
  double median = 0;      // over the batches' medians
  double ci95_low = 0;    // of that median
  double ci95_high = 0;
  double confidence = 0;  // that the interval really has: below 0.95 (too few batches) it is the whole range
  double min = 0;         // of the samples
  double spread = 0;      // of the samples themselves: half the central 68 %
  std::size_t samples = 0;
  std::vector<double> raw{};  // the batches' medians, in their order
};

// Of values in batches, the batch being the unit of replication (src/results/statistics.hpp). Batches without values
// are left out; std::invalid_argument where there is none with any.
metric summarize_batches(const metric_name&, const std::vector<std::vector<double>>& batches);

}  // namespace mgsync
