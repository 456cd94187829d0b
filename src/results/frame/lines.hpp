// Straight lines through measured points: the best one, and from each point to the next.
#pragma once

#include <map>
#include <optional>
#include <span>

namespace mgsync {

// y = offset + slope x x, by least squares.
struct line_fit {
  double slope = 0;
  double offset = 0;
  double residual = 0;  // the largest distance of a point from the line, in its unit
  double r_squared = 1;
};
// Throws std::invalid_argument unless there are as many of both, at least two, not all at one place.
line_fit fit_line(std::span<const double> x, std::span<const double> y);

// How far `x` is on the way from `low` to `high`, of their logarithms: 0 to 1 between them.
double share_between(double x, double low, double high);

// A curve of values above 0 at `x`: a straight line of log y over log x from each point to the next. Nothing
// outside of them.
std::optional<double> between_points(const std::map<double, double>& curve, double x);

}  // namespace mgsync
