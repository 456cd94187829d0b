// The points of this study: which probes run with which lanes, shapes and clocks. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/probes/catalogue.hpp"
#include "src/results/values/point.hpp"
#include "src/studies/levels/level_values.hpp"

namespace mgsync::levels {

inline constexpr std::string_view all_levels[] = {"warp", "block", "cluster", "memory"};

// The probes of these levels, in this order.
using probe_family = probes::probe;
std::span<const probe_family> families();
const probe_family& family(std::string_view name);  // std::invalid_argument where there is none

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

// A mask of the lowest `count` lanes, 1 to 32. (The papers' program took one lane too many.)
std::uint32_t first_lanes(unsigned count);

struct level_probe {
  const probe_family* family = nullptr;
  levels::quantity quantity = quantity::latency;
  unsigned threads = 32;
  unsigned blocks_per_sm = 1;       // throughput
  std::uint32_t lanes = all_lanes;  // of each warp: those that take part
  std::string_view where{};         // memory: "L1", "L2" of all SMs at once, "L2-one-SM", "DRAM"
  // What is left to chance, to show how it changes the value: "start" (when the warps of a block begin a
  // pass) or "place" (on which SMs the blocks of a cluster run). Otherwise warps begin together, and each
  // block of a cluster has an SM of its own.
  std::string_view left_free{};

  unsigned lane_count() const;
  // Whether so many warps poll the same barrier that the order of their polls, and so the time, differs from
  // pass to pass.
  bool is_chaotic() const { return family->name.starts_with("mbarrier_t") && threads > 512; }
  bool on_every_sm() const { return where == "L2" || where == "DRAM"; }
  // Whether so many blocks do not fit on an SM at once: later ones begin when others have ended.
  bool is_too_many() const { return blocks_per_sm > 32 || blocks_per_sm * threads > 2048; }
};

// A mask of `count` lanes drawn at random, the same in every run of the program. std::invalid_argument unless
// `count` is 1 to 32.
std::uint32_t scattered_lanes(unsigned count);

// The points of a level and quantity, each once, in the order of the study.
std::vector<level_probe> probes_of(std::string_view level, quantity);

// The point of a probe in the given run; points of the first run have no axis "run".
point point_of(const level_probe&, unsigned run);

// What a link is, in a word: "barrier", "operation", "no instruction", "library code".
std::string_view link_of(const probe_family&);

// The label beside a value of the family: "no instruction", "library code, not code-checked" or empty.
std::string_view label_of(const probe_family&);

}  // namespace mgsync::levels
