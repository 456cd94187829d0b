// A comparison as a text table: one row per point that both sides measured, changed points first, then what
// could not be compared.
#pragma once

#include <string>

#include "src/results/comparison/comparison.hpp"

namespace mgsync {

// A table for each metric. Columns: backend variant members ranks shape, an axis each that varies, BASE_us
// NEW_us NEW/BASE ci95 result note. Slower points first, the most slowed at the top, then faster ones, then
// the rest in the order of BASE. Below the table: the points of one side only, a summary, and what the
// numbers mean.
std::string format_comparison(const comparison&);

}  // namespace mgsync
