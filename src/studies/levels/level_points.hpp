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

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

struct level_probe {
  const probe_family* family = nullptr;
  levels::quantity quantity = quantity::latency;
  unsigned threads = 32;
  unsigned blocks_per_sm = 1;       // throughput
  std::uint32_t lanes = all_lanes;  // that take part, of each warp
  std::string_view where{};         // memory: "L1", "L2", "DRAM"
  // What is left to chance, to show what it does to the figure: "start" (when the warps of a block begin a
  // pass), "place" (onto which SMs the blocks of a cluster are put). Else warps begin together, and each
  // block of a cluster has an SM of its own.
  std::string_view left_free{};

  unsigned lane_count() const;
  // Asked again and again by so many warps that no two passes are alike: their questions meet in another
  // order each time.
  bool is_chaotic() const { return family->name.starts_with("mbarrier_t") && threads > 512; }
  bool on_every_sm() const { return where == "L2" || where == "DRAM"; }
};

// So many lanes, drawn at random: for each count always the same ones. std::invalid_argument unless 1 to 32.
std::uint32_t scattered_lanes(unsigned count);

// In the order of the levels; every point once.
std::vector<level_probe> probes_of(std::string_view level, quantity);

// Of the first run the point has no axis "run".
point point_of(const level_probe&, unsigned run);

// What a link is, in a word: "barrier", "operation", "no instruction", "library code".
std::string_view link_of(const probe_family&);

}  // namespace mgsync::levels
