// The numbers of a figure as a table, which stands below it on a page for people who cannot see it or want to
// copy them.
#pragma once

#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// Throws std::invalid_argument where the parts of a figure are inconsistent: a point outside of its
// categories, or a heat map whose cells do not match its rows and columns.
void check_parts(const figure&);

// With the figure's name and title; for a timeline, a row for every event. Throws as check_parts.
table data_of(const figure&);

// Of all its parts.
double sum_of(const bar&);

}  // namespace mgsync::report
