// What the probes gave, as it came: integer cycles of every pass, by probe, chain length and shape. All evaluation of this
// study is a function of these.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync::levels {

// Cycles by how often they were seen.
using histogram = std::map<std::int64_t, std::uint64_t>;

struct raw_samples {
  std::string family;
  unsigned links = 0;
  unsigned threads = 32;       // per block
  unsigned blocks_per_sm = 1;
  unsigned cluster = 1;
  unsigned lanes = 32;         // of each warp that took part
  std::string where;           // memory: "L2", "DRAM"; else empty
  unsigned launch = 0;
  std::uint32_t sm = 0;        // where it ran; the samples of one SM
  histogram latency_cycles;    // from the last warp to arrive until the first to leave
  std::uint64_t span_cycles = 0;  // the shortest pass from the first warp's start to the last one's end; throughput
  std::uint32_t warps = 1;     // on that SM
  double host_ns = 0;          // of the launch
};

// One line each: "family,links,threads,blocks_per_sm,cluster,lanes,where,launch,sm,span_cycles,warps,host_ns,latencies",
// the latencies as "cycles:count;cycles:count".
std::string to_csv(const raw_samples&);
std::string csv_header();
// The lines of a text; those that begin with '#' are left out. std::invalid_argument names a line that is none.
std::vector<raw_samples> from_csv(std::string_view text);

}  // namespace mgsync::levels
