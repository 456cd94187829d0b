// Tables of results in Markdown: each subject over the member counts (as in figure 9 of the paper), over any
// other axis, or over the shapes (as the heat maps of figures 5, 7 and 8). Pure.
#pragma once

#include <span>
#include <string>

#include "src/results/values/result.hpp"

namespace mgsync {

// What is asked for; `by`: "members", "ranks", "placement", "node", "file", "shapes", the name of an axis, or
// "subject" (of a summary).
struct pivot_request {
  std::string by;
  // In a cell: "median", "ci95" (the median and its 95 % interval), "range" (and the least and largest
  // sample), "width" (half of that interval in % of the median), or the name of a metric or quantity.
  std::string value = "median";
  std::string relative_to{};  // a subject: the numbers of each column over this one's
  std::string sum{};          // "a,b": a further row, what these subjects have together
  bool summary = false;       // a row for each value of `by`, pooled, and statistics as columns
};

// One table for each combination of all else: a row for each subject and variant, the best at the last column
// first, and a column for each value. "-": not measured, "FAIL": wrong or stuck. Throws usage_error, naming
// what there is, where no result has such an axis, value or subject.
std::string table_by(std::span<const result> results, const pivot_request&);

// One table per subject, variant and group: a row for each number of blocks per SM, a column for each number
// of threads per block; medians of the first metric. "-": not resident at once, or not measured.
std::string table_by_shape(std::span<const result> results);

}  // namespace mgsync
