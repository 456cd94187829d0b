// What the papers measured on V100 and P100 inside one GPU: 000 table II; 001 tables 4, 5 and 7. Cycles, warp
// operations per cycle and SM, and where the papers say so block barriers per us and SM.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mgsync::levels {

struct pair_of_gpus {
  double v100 = 0;
  double p100 = 0;
};

// The probe of this study whose value stands beside a row of the papers: its family, the lanes that take
// part, and its threads.
struct counterpart {
  std::string_view family;
  unsigned lanes = 0;  // 0: as many as the family has
  unsigned threads = 32;
};

struct warp_row {
  std::string_view type;  // its name in the paper
  pair_of_gpus latency_cycles;
  pair_of_gpus throughput;  // warp operations per cycle and SM
  counterpart here;
};
// 000, table II. "Block" is per warp.
std::span<const warp_row> table_ii();
// 001, table 4: throughput of tiles is that of size 32 (8.353 / 32 and 2.89 / 32).
std::span<const warp_row> table_4();

struct block_row {
  unsigned threads = 0;
  pair_of_gpus latency_cycles;
  pair_of_gpus block_syncs_per_us;  // per SM
};
// 001, table 5.
std::span<const block_row> table_5();
// 001, table 7, in warp barriers per ns and SM; "> 64" is the range of the larger blocks.
struct summary_row {
  std::string_view type;
  std::string_view group_size;
  std::string v100, p100;  // as printed: two of the rows are ranges, and two contradict table 4
};
std::span<const summary_row> table_7();

// The clocks of the papers' machines (000 table VII), MHz.
pair_of_gpus clock_mhz();

// Block barriers per us and SM as barriers of warps per cycle and SM.
double warp_syncs_per_cycle(double block_syncs_per_us, unsigned threads, double mhz);

// V100's block barrier is exactly 20 + 2 x warps cycles.
double v100_block_cycles(unsigned threads);

}  // namespace mgsync::levels
