// Results against one of the things they were measured over, as tables in Markdown: a method over the member counts
// (as in figure 9 of the paper), or over the shapes (the heat maps of figures 5, 7 and 8). Pure.
#pragma once

#include <span>
#include <string>

#include "src/results/result.hpp"

namespace mgsync {

// One table per shape (and load, placement, ranks, node): a row for each backend and variant, the fastest at the largest
// count first, and a column for each member count; medians in us. "-": waived, "FAIL": no barrier.
std::string table_by_members(std::span<const result> results);

// One table per backend, variant and group: a row for each number of blocks per SM, a column for each number of threads
// per block; medians in us. "-": not resident at once, or not measured.
std::string table_by_shape(std::span<const result> results);

}  // namespace mgsync
