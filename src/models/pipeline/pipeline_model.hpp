// The terms of the warp-specialization model (paper 003, section 2): a matrix product, its tiles, what one
// stage costs, and how producers and consumers are arranged. Plain values; nothing here needs a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mgsync::pipeline {

// A time as a whole number of a unit that the caller chooses: picoseconds where a machine is described in ns,
// cycles for the synthetic kernel. Integers, so that simulator, closed form and solver can be compared
// exactly.
using ticks = std::int64_t;

inline constexpr ticks ticks_per_ns = 1000;  // for converting a machine's ns to ticks

// The size of a product, C (m x n) = A (m x k) B (k x n). For a tile: the part of C that one block computes,
// and the depth k of one stage.
struct extent {
  int m = 0;
  int n = 0;
  int k = 0;
  bool operator==(const extent&) const = default;
};

constexpr std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }
constexpr std::int64_t output_tiles(extent size, extent tile) {
  return parts(size.m, tile.m) * parts(size.n, tile.n);
}
constexpr int stages(extent size, extent tile) { return static_cast<int>(parts(size.k, tile.k)); }
// How many output tiles the most loaded SM computes, one after the other.
constexpr int waves(extent size, extent tile, int sms) {
  return static_cast<int>(parts(output_tiles(size, tile), sms));
}

// One load of an input tile: the engine is busy for `issue`, and the data can be used `latency` after its
// start. In the paper both are t_A (or t_B); an engine with several loads in flight has a longer latency.
struct load_time {
  ticks issue = 0;
  ticks latency = 0;
  bool operator==(const load_time&) const = default;
};

// What one stage of one output tile costs on one SM.
struct stage_times {
  load_time a, b;
  ticks math = 0;      // t_C
  ticks epilogue = 0;  // E, once per output tile
  ticks query = 0;     // an agent's overhead between two of its stages, when it need not wait
  ticks handover = 0;  // from a signal until the agent that waits for it goes on
  bool operator==(const stage_times&) const = default;
};

// What one SM computes of a product, one output tile after the other: all alike except the last, when
// fewer SMs may be busy, and where it is given the first of several. Stored as entries and a count, because
// there may be millions of tiles.
struct sm_work {
  stage_times each, last;
  std::int64_t tiles = 1;
  int stages = 1;  // of each output tile
  std::optional<stage_times> first{};
  bool operator==(const sm_work&) const = default;
};

// How a block's warps are arranged. One producer loads A and then B; of two, each loads one. With two
// consumers the output tiles alternate between them, one multiplies at a time (paper, section 1.3) and an
// epilogue is hidden behind the other's multiplying. Persistent: the producers go on with the next output
// tile while the last is being finished.
struct arrangement {
  int producers = 1;
  int consumers = 1;
  int buffers = 2;
  bool persistent = false;
  bool operator==(const arrangement&) const = default;
};

// A tile and an arrangement: what the paper's question asks for.
struct configuration {
  extent tile;
  arrangement warps;
  bool operator==(const configuration&) const = default;
};

inline std::string text(extent e) {
  return std::to_string(e.m) + "x" + std::to_string(e.n) + "x" + std::to_string(e.k);
}

// One bar of a timeline, in the unit of whoever made it.
struct timeline_span {
  std::string track;
  std::string event;
  double begin = 0;
  double end = 0;
  bool operator==(const timeline_span&) const = default;
};
using timeline = std::vector<timeline_span>;

}  // namespace mgsync::pipeline
