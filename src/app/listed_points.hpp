// Points that are listed one by one, in place of the axes of a sweep (--points FILE): as the words of axes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/harness/axis.hpp"
#include "src/results/values/point.hpp"

namespace mgsync {

// Sweeps that together are these points of barriers: one for each group, shape and load.
std::vector<typed_words> sweeps_of(std::span<const point>);
// The same of the points in a results file. Throws usage_error where it has none.
std::vector<typed_words> sweeps_of_file(const std::string& name);

}  // namespace mgsync
