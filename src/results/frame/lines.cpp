#include "src/results/frame/lines.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace mgsync {

line_fit fit_line(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || x.size() < 2) throw std::invalid_argument("a line needs two points or more");
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  if (xx == 0) throw std::invalid_argument("a line needs points at two places");
  line_fit line;
  line.slope = xy / xx;
  line.offset = mean_y - line.slope * mean_x;
  double left = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - line.offset - line.slope * x[i];
    line.residual = std::max(line.residual, std::abs(off));
    left += off * off;
  }
  if (yy > 0) line.r_squared = 1 - left / yy;
  return line;
}

double share_between(double x, double low, double high) { return std::log(x / low) / std::log(high / low); }

std::optional<double> between_points(const std::map<double, double>& curve, double x) {
  const auto above = curve.lower_bound(x);
  if (above == curve.end()) return std::nullopt;
  if (above->first == x) return above->second;
  if (above == curve.begin()) return std::nullopt;
  const auto below = std::prev(above);
  return below->second *
         std::pow(above->second / below->second, share_between(x, below->first, above->first));
}

}  // namespace mgsync
