// The points of this study: which probes run with which lanes, shapes and clocks. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/point.hpp"
#include "src/studies/levels/level_values.hpp"
#include "src/studies/levels/probe_family.hpp"

namespace mgsync::levels {

inline constexpr std::string_view all_levels[] = {"warp", "block", "cluster", "memory"};
inline constexpr std::string_view all_quantities[] = {"latency", "throughput", "host"};

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

struct level_probe {
  const probe_family* family = nullptr;
  levels::quantity quantity = quantity::latency;
  unsigned threads = 32;
  unsigned blocks_per_sm = 1;          // throughput
  std::uint32_t lanes = all_lanes;     // that take part, of each warp
  std::string_view where{};            // memory: "L1", "L2", "DRAM"

  unsigned lane_count() const;
  bool on_every_sm() const { return where == "L2" || where == "DRAM"; }
};

// In the order of the levels; every point once.
std::vector<level_probe> probes_of(std::string_view level, quantity);

// Of the first run the point has no axis "run".
point point_of(const level_probe&, unsigned run);

// What a link is, in a word: "barrier", "operation", "no instruction", "library code".
std::string_view link_of(const probe_family&);

}  // namespace mgsync::levels
