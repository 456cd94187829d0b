// The values of this study by family and shape: latencies of a link, and throughputs as the papers define
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/enum_words.hpp"

namespace mgsync::levels {

enum class quantity {
  latency,     // cycles per link
  throughput,  // links of warps per cycle and SM
  host,        // latency by the host's clock, in cycles of the SM's measured clock
};

}  // namespace mgsync::levels

template <>
struct mgsync::enum_words<mgsync::levels::quantity> {
  using enum levels::quantity;
  static constexpr std::pair<levels::quantity, std::string_view> list[] = {
      {latency, "latency"}, {throughput, "throughput"}, {host, "host"}};
};

namespace mgsync::levels {

struct level_value {
  std::string family;
  levels::quantity quantity = quantity::latency;
  unsigned threads = 32;
  unsigned blocks_per_sm = 1;
  unsigned cluster = 1;
  unsigned lanes = 32;
  std::string mask{};  // the lanes, where they are not the lowest ones
  std::string where;   // memory: "L1", "L2", "DRAM"
  double value = 0;
  double low =
      0;  // of the median over launches; where SMs differ (L2, DRAM, throughput): the extremes over them
  double high = 0;
  double residual = 0;  // latency: the largest distance of a length's mode from the line, in cycles
  bool is_line = true;  // latency: whether the lengths lie on a line, so that its slope is a figure
  std::size_t samples = 0;
  std::size_t sms = 1;  // how many SMs took part

  unsigned warps_per_sm() const { return blocks_per_sm * ((threads + 31) / 32); }
};

// The value of that family and shape; nullptr where there is none.
const level_value* find(std::span<const level_value>, std::string_view family, quantity,
                        unsigned threads = 32, unsigned lanes = 0, std::string_view where = {});
// The largest throughput over all shapes of groups of so many lanes (0: as many as the family has), which is
// what the papers give; nullptr where there is none.
const level_value* largest_throughput(std::span<const level_value>, std::string_view family,
                                      unsigned lanes = 0);

// A line over warps: latency = intercept + slope x warps.
struct warp_line {
  double slope = 0;
  double intercept = 0;
  double r_squared = 0;
  std::size_t points = 0;
};
// Fits the line to a family of block barriers; `points` is 0 where fewer than three block sizes were
// measured.
warp_line line_over_warps(std::span<const level_value>, std::string_view family);

}  // namespace mgsync::levels
