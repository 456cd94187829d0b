// Which conditions vary among points, and so become columns of a table, and which all points share, and so
// are stated once below it.
#pragma once

#include <string>
#include <vector>

#include "src/results/values/point.hpp"

namespace mgsync {

struct conditions {
  std::vector<std::string>
      varying;  // names of axes that vary, in the points' order; "placement" where that varies
  std::vector<std::string> common;  // unusual values that all points share: "placement far", "work 20 us"
};

// Axes of a shape, and what every table has a column for (members, ranks, node), do not count.
conditions conditions_of(const std::vector<const point*>& points);

// The value of one of `varying`: a word of the table, "-" where the point has none.
std::string value_of(const point&, const std::string& name);

// The unusual conditions of one point besides its members and shape, in words: "on n7, one rank per member,
// placement far". Points with different ones go into different tables and pictures.
std::string circumstances_of(const point&);

// "shape 1x32"; empty where a point has none, and for host members of one thread each.
std::string shape_in_words(const point&);
// Where sums read their numbers, of the axis "memory": "read from memory" (cold), "read from a cache".
std::string_view read_in_words(std::string_view memory);

}  // namespace mgsync
