// Fits a straight line to measured points, and interpolates between neighbouring points.
#pragma once

#include <map>
#include <optional>
#include <span>

namespace mgsync {

// y = offset + slope x x, by least squares.
struct line_fit {
  double slope = 0;
  double offset = 0;
  double residual = 0;  // the largest vertical distance of a point from the line, in the unit of y
  double r_squared = 1;
};
// Throws std::invalid_argument unless x and y have the same size of at least two, and not all x are equal.
line_fit fit_line(std::span<const double> x, std::span<const double> y);

// Whether points that stretch over `range` of x lie on a line of that slope: whether the one that is furthest
// from it
// (`residual`) leaves the slope uncertain by 1 % at most. A slope of what is no line is no figure.
constexpr bool is_a_line(double slope, double residual, double range) {
  return 2 * residual <= 0.01 * (slope < 0 ? -slope : slope) * range;
}

// The position of log x between log low (0) and log high (1).
double share_between(double x, double low, double high);

// The curve at `x`, interpolated linearly in log y over log x between neighbouring points; all values must be
// above 0. Nothing outside of the curve's range.
std::optional<double> between_points(const std::map<double, double>& curve, double x);

}  // namespace mgsync
