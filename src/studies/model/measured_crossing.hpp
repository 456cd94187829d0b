// Where two measured curves of time over size cross.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/models/switch_points/switch_points.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::model {

// The sizes at which both curves have a time. A difference of two runs may come out at 0 or below, and then
// counts as none.
std::vector<double> common_sizes(const std::map<double, const result*>&,
                                 const std::map<double, const result*>&);

// The crossing of the medians, and the range of the crossings of single batches that have a time at every
// size.
struct measured_crossing {
  crossing at;
  std::optional<double> low, high;  // range of for_good over the batches
};
measured_crossing measured_between(const std::map<double, const result*>& basic,
                                   const std::map<double, const result*>& more);

// From which of these sizes on the predicted times of `more` stay below those of `basic`; nothing where a
// time is not positive.
std::optional<double> foretold_crossing(const std::vector<double>& bytes, const std::vector<double>& basic,
                                        const std::vector<double>& more);

}  // namespace mgsync::model
