// The numbers of a figure as a table: what stands below it on a page, for those who cannot see it or want to
// copy it.
#pragma once

#include "src/results/figure.hpp"

namespace mgsync::report {

// Throws std::invalid_argument where the parts of a figure do not fit one another: a point stands beside the
// names below, a map has other cells than its rows and columns.
void check_parts(const figure&);

// Named and titled as the figure. A timeline: every event. Throws as check_parts.
table data_of(const figure&);

}  // namespace mgsync::report
