// The map of a fleet: a square for each node, in the order of their names.
#pragma once

#include <span>
#include <string>

#include "src/results/comparison/fleet.hpp"

namespace mgsync::report {

// An <svg> element: pale where a node is as the fleet, darker the slower it is, with an edge where it is an
// outlier or not normal; the pointer shows its name.
std::string fleet_map(std::span<const fleet_cell>);

}  // namespace mgsync::report
