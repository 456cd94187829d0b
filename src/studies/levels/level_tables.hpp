// Tables of this study that need nothing but its values: groups of lanes by size. Pure.
#pragma once

#include <span>

#include "src/results/frame/figure.hpp"
#include "src/studies/levels/level_values.hpp"

namespace mgsync::levels {

// Whether the value is of a group of some lanes of a warp; these stand in a table by themselves.
bool is_part_of_warp(const level_value&);
// A row for each number of lanes, adjacent equal rows merged: values for that many of the lowest lanes, and
// for as many drawn at random. No rows where none was measured.
table table_of_lanes(std::span<const level_value>);

}  // namespace mgsync::levels
