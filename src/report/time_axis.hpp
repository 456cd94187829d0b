// The horizontal axis of a timeline. Where long nothing happens in any row, as while all wait for one that is
// late, the axis is broken: the wait is drawn short, and says how long it is.
#pragma once

#include <string>
#include <vector>

namespace mgsync::report {

class time_axis {
 public:
  // `moments`: all times at which something begins or ends, in any order; one at least.
  time_axis(std::vector<double> moments, double from_px, double to_px);

  double at(double time) const;  // in pixels
  double left() const { return parts_.front().from_px; }

  struct tick {
    double px = 0;
    std::string label;
  };
  const std::vector<tick>& ticks() const { return ticks_; }

  struct gap {
    double from_px = 0, to_px = 0;
    double time = 0;  // how long it is
  };
  const std::vector<gap>& gaps() const { return gaps_; }

 private:
  void add_ticks(double step);

  struct part {
    double from, to, from_px, to_px;
  };
  std::vector<part> parts_;  // in time; every second one is a gap
  std::vector<gap> gaps_;
  std::vector<tick> ticks_;
};

}  // namespace mgsync::report
