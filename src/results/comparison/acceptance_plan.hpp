// Which points say whether a node is normal: of what a reference measured, those of which a small slowdown
// shows, for each GPU, each pair of GPUs, and all together. Pure.
//
//   const auto plan = plan_acceptance(known, {.device = device::gpu, .members = 8, .pairs = alike_pairs});
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/results/comparison/reference_spread.hpp"

namespace mgsync {

// A line of a table of thresholds, "subject,members,shape,limit": `*` stands for all. The first that fits
// replaces the limit that follows from the spread.
struct threshold {
  std::string subject, members, shape;
  double limit = 0;  // what a point may be slower by, as a share
};
// Throws usage_error with the line that is none, or that names a subject which `is_barrier` does not know,
// and where there is no line.
using barrier_test = std::function<bool(std::string_view subject)>;
std::vector<threshold> read_thresholds(std::string_view text, const std::string& name,
                                       const barrier_test& is_barrier);

struct acceptance_request {
  topology::device device = topology::device::gpu;
  int members = 0;                              // of the node
  std::vector<std::vector<int>> pairs{};        // of GPUs, connected as the reference's pair is
  std::function<bool(const point&)> can_run{};  // absent: every point can
  std::span<const threshold> thresholds{};
};

struct acceptance_point {
  mgsync::point point;  // with the placement that names its members
  double base_us = 0;   // the reference's centre
  double limit = 0;     // how many times that it may take
  bool operator==(const acceptance_point&) const = default;
};

// Of each GPU two points of different shape, of each pair one, of all members up to six of different
// subjects, one of each kind of driver among them: always those of the smallest limits. Empty where the
// reference has none of them.
std::vector<acceptance_point> plan_acceptance(const reference_spread&, const acceptance_request&);

// Seconds that measuring takes, and for how long a point is sampled so that the plan stays within its time:
// 25 s on two GPUs, 60 s on eight and more, or what was asked for.
struct acceptance_time {
  double seconds = 0;   // by this count
  double sampling = 0;  // of a point
};
acceptance_time time_of(std::size_t points, int members, std::optional<double> within = {});

}  // namespace mgsync
