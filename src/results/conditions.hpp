// Which of the things that points were measured under vary among them, and which are the same for all: what
// becomes a column of a table, and what is said once.
#pragma once

#include <string>
#include <vector>

#include "src/results/point.hpp"

namespace mgsync {

struct conditions {
  std::vector<std::string>
      varying;  // names of axes that vary, in the points' order; "placement" where that varies
  std::vector<std::string>
      common;  // what is out of the ordinary and the same for all: "placement far", "work 20 us"
};

// Axes of a shape, and what every table has a column for (members, ranks, node), do not count.
conditions conditions_of(const std::vector<const point*>& points);

// The value of one of `varying`: a word of the table, "-" where the point has none.
std::string value_of(const point&, const std::string& name);

// What is out of the ordinary about one point besides its members and shape, in words: "on n7, one rank per
// member, placement far". Tables and pictures are apart by it.
std::string circumstances_of(const point&);

}  // namespace mgsync
