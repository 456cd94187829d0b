// From raw samples to figures: the latency of one link as the slope over chain lengths, throughput as the papers define it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/studies/levels/raw_samples.hpp"

namespace mgsync::levels {

enum class quantity {
  latency,     // cycles per link
  throughput,  // links of warps per cycle and SM
  host,        // latency by the host's clock, in cycles of the SM's measured clock
};

struct level_value {
  std::string family;
  levels::quantity quantity = quantity::latency;
  unsigned threads = 32;
  unsigned blocks_per_sm = 1;
  unsigned cluster = 1;
  unsigned lanes = 32;
  std::string mask{};      // which lanes, where they are not the first
  std::string where;       // memory: "L1", "L2", "DRAM"
  double value = 0;
  double low = 0;          // over launches, or over SMs where several took part: the extremes
  double high = 0;
  double offset = 0;       // latency: cycles that are not the chain
  double residual = 0;     // latency: the largest distance of a length's mode from the line, in cycles
  std::size_t samples = 0;
  std::size_t sms = 1;     // that took part

  unsigned warps_per_sm() const { return blocks_per_sm * ((threads + 31) / 32); }
};

// Latency: for each SM, and of each launch alone, the line through the modes (L2 and DRAM: medians, since no two loads of
// them are alike) of the chain lengths. The value is the median over SMs of the line through all launches; low and high
// are the extremes over SMs, or over launches where there is one SM. Families with one length have no latency here.
// Throughput: links x warps / (latest end - earliest start) on one SM, the fastest pass; the median over SMs.
// In the order of the samples. Samples taken for the host's clock are left out.
std::vector<level_value> values_of(std::span<const raw_samples>);

// The figure of that family and shape, nullptr where there is none.
const level_value* find(std::span<const level_value>, std::string_view family, quantity, unsigned threads = 32, unsigned lanes = 0,
                        std::string_view where = {});
// The largest throughput over all shapes, as the papers give it; nullptr where there is none.
const level_value* largest_throughput(std::span<const level_value>, std::string_view family);

// A line over warps: latency = intercept + slope x warps.
struct warp_line {
  double slope = 0;
  double intercept = 0;
  double r_squared = 0;
  std::size_t points = 0;
};
// Of a family of block barriers; points 0 where fewer than three block sizes were measured.
warp_line line_over_warps(std::span<const level_value>, std::string_view family);

// Host clock: ns per link from two launches with different numbers of passes, (T(2) - T(1)) / (passes x links), the
// papers' eq. 7. Smallest over launches of each. 0 where there are not two.
double host_ns_per_link(std::span<const raw_samples>, std::string_view family);

}  // namespace mgsync::levels
