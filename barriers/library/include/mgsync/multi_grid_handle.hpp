// What a kernel is passed to join a multi-GPU grid: made by mgsync::multi_grid (or the C interface), for one GPU and one
// number of blocks, and good for any number of launches until that number changes. Plain data, C++17.
#pragma once

#include <cstdint>

namespace mgsync {

// A block's place in its GPU's memory. The epoch outlives the launch: the next one goes on from it.
struct alignas(16) multi_grid_block {
  std::uint32_t epoch;         // of the last barrier that the block came to in time, set as it leaves the kernel
  std::uint32_t looked_at;     // epoch of the last barrier that took long
  std::uint32_t since;         // when it was found to take long, in 2^20 ns
  std::uint32_t late;          // 1: others had given up by then
};

// What bounds every wait.
struct multi_grid_bounds {
  std::uint32_t* abort = nullptr;  // host memory: not 0 once a wait of this process was given up
  std::uint32_t patience = 0;      // of one wait, in 2^20 ns; all ones: for ever
};

struct multi_grid_handle {
  static constexpr unsigned most_gpus = 16;
  static constexpr std::uint32_t none = 0, relay = 1, counter = 2;  // algorithms

  std::uint32_t* parts[most_gpus] = {};  // of every GPU's flags, as this GPU addresses them
  multi_grid_block* records = nullptr;   // one per block of this GPU
  multi_grid_bounds bounds;
  std::uint32_t rank = 0;                // this GPU's
  std::uint32_t gpus = 0;
  std::uint32_t blocks = 0;              // of every GPU
  std::uint32_t algorithm = none;
  std::uint32_t counters = 1;
  std::uint32_t copies = 1;              // of the inboxes, or of the counters
  std::uint32_t hold = 0;
};

}  // namespace mgsync
