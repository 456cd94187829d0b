#include "src/report/time_axis.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/markup.hpp"
#include "src/report/canvas.hpp"

namespace mgsync::report {

namespace {

constexpr double long_share = 0.12;  // of the whole: a wait as long as this is broken
constexpr double gap_px = 44;

double nice_step(double length) {
  const double rough = length / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0})
    if (rough <= times * power) return times * power;
  return 10 * power;
}

}  // namespace

time_axis::time_axis(std::vector<double> moments, double from_px, double to_px) {
  std::ranges::sort(moments);
  const double low = moments.front(), whole = moments.back() - low;
  std::vector<part> parts{{low, low, 0, 0}};  // first without pixels
  double waits = 0;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    if (const double length = moments[i] - moments[i - 1]; length > long_share * whole) {
      parts.push_back({moments[i - 1], moments[i], 0, 0});
      parts.push_back({moments[i], moments[i], 0, 0});
      waits += length;
    } else {
      parts.back().to = moments[i];
    }
  }
  // Where there are few moments their distances are the picture itself, and a third of it does no harm.
  const double kept = whole - waits, gaps = static_cast<double>(parts.size() / 2);
  if (!(waits > whole / 3) || !(kept > 0) || 4 * parts.size() > 2 * moments.size() + 2)
    parts = {{low, moments.back(), 0, 0}};
  const bool broken = parts.size() > 1;
  const double room = to_px - from_px - (broken ? gaps * gap_px : 0), length = broken ? kept : whole;
  double x = from_px;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& one = parts[i];
    const double wide = i % 2 == 1 ? gap_px : length > 0 ? room * (one.to - one.from) / length : room;
    one.from_px = x, one.to_px = x += wide;
    if (i % 2 == 1) gaps_.push_back({one.from_px, one.to_px, one.to - one.from});
  }
  parts_ = std::move(parts);
  if (length > std::max(std::abs(low), std::abs(moments.back())) * 1e-9) add_ticks(nice_step(length));
}

void time_axis::add_ticks(double step) {
  double until = -1e9;
  for (std::size_t i = 0; i < parts_.size(); i += 2) {
    constexpr int most = 20;  // bounds the loop where a step makes no progress
    double time = std::ceil(parts_[i].from / step - 1e-9) * step;
    for (int n = 0; n < most && time <= parts_[i].to + step * 1e-9; ++n, time += step) {
      const tick one{at(time), readable(std::abs(time) < step * 1e-9 ? 0 : time)};
      const double half = width_of(one.label, 6) / 2;
      if (one.px - half < until + 6) continue;
      until = one.px + half;
      ticks_.push_back(one);
    }
  }
}

double time_axis::at(double time) const {
  for (const auto& one : parts_)
    if (time <= one.to || &one == &parts_.back())
      return one.to > one.from
                 ? one.from_px + (time - one.from) / (one.to - one.from) * (one.to_px - one.from_px)
                 : one.from_px;
  return 0;
}

}  // namespace mgsync::report
