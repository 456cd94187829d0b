// Where two measured curves of time over size cross.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/results/result.hpp"
#include "src/studies/model/performance_model.hpp"

namespace mgsync::model {

// Sizes that both have.
std::vector<double> common_sizes(const std::map<double, const result*>&, const std::map<double, const result*>&);

// The crossing of the medians, and of each batch by itself: from where to where it moved.
struct measured_crossing {
  crossing at;
  std::optional<double> low, high;  // of for_good, over the batches
};
measured_crossing measured_between(const std::map<double, const result*>& basic, const std::map<double, const result*>& more);

}  // namespace mgsync::model
