// Tables of results in Markdown: each subject over the member counts (as in figure 9 of the paper), over any
// other axis, or over the shapes (as the heat maps of figures 5, 7 and 8). Pure.
#pragma once

#include <span>
#include <string>

#include "src/results/values/result.hpp"

namespace mgsync {

// `what`: "members", "ranks", "placement", "node" or the name of an axis. One table for each combination of
// all else: a row for each subject and variant, the best at the last column first, and a column for each
// value; medians of the first metric. "-": not measured, "FAIL": wrong or stuck. Throws usage_error, naming
// what there is, where no result has such an axis.
std::string table_by(std::span<const result> results, const std::string& what);

// One table per subject, variant and group: a row for each number of blocks per SM, a column for each number
// of threads per block; medians of the first metric. "-": not resident at once, or not measured.
std::string table_by_shape(std::span<const result> results);

}  // namespace mgsync
