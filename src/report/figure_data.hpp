// The numbers of a figure as a table: what stands below it on a page, for those who cannot see it or want to
// copy it.
#pragma once

#include "src/results/figure.hpp"

namespace mgsync::report {

// Named and titled as the figure. A timeline: every event.
table data_of(const figure&);

}  // namespace mgsync::report
