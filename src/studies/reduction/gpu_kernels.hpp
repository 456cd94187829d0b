// The kernels of sums on GPUs, as host code names them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "barriers/parts/algorithm/grid_choice.hpp"
#include "barriers/parts/round_loop/device_run.hpp"
#include "src/studies/reduction/numbers.hpp"
#include "src/studies/reduction/reading.hpp"

namespace mgsync::reduction {

// How the blocks' sums are combined.
enum class joining {
  none,       // each block stores its sum; they are not combined
  last,       // the last block to arrive at a counter adds them up
  inbox,      // whoever is not block 0 sends it its sum with a flag in every word; the next kernel may start
              // early and waits inside
  grid_sync,  // cooperative groups' barrier of the grid, then block 0 adds them up
  counter,    // this project's barrier of the grid: spread counters
  relay,      // the same: relay
  cluster,    // clusters of eight blocks join over distributed shared memory, the last cluster's first block
              // adds up
  last_of_several,  // as `last`, over the blocks of all GPUs
  several,          // this project's barrier of several GPUs, then GPU 0's block 0 adds up
  gathered,         // GPU by GPU up a tree, without a barrier
  dependent,        // each block stores its sum; the next kernel may start early and waits inside
};

// The first parameter of the sum kernels; most have no other.
struct sum_arguments {
  const void* numbers = nullptr;
  std::size_t count = 0;
  void* partials = nullptr;  // one per block (inbox: 16 bytes, zero before and after); of several GPUs: of
                             // all their blocks, on GPU 0
  void* result = nullptr;
  unsigned long long* arrived = nullptr;  // a counter, zero before; only last_of_several does not reset it
  bool in_chunks = false;
};
// The second parameter of kernels with one of this project's barriers: where the barrier's flags are on every
// GPU, and its shape.
template <class Shape>
struct barrier_arguments {
  std::uint32_t* parts[algorithm::most_gpus] = {};
  Shape shape{};
  round_loop::device_run run{};
};
// The second parameter of kernels that gather along a tree of GPUs. Slots have 16 bytes and are zero before
// and after.
struct gather_arguments {
  void* from = nullptr;  // slots on this GPU, one for each GPU below it
  unsigned children = 0;
  void* to = nullptr;  // a slot on the parent; nullptr on the root
};
using counter_arguments = barrier_arguments<algorithm::spread_shape>;
using relay_arguments = barrier_arguments<algorithm::relay_shape>;

// The kernel for a type, a way of loading and a way of joining; nullptr where there is none (only `none`,
// `last` and `inbox` exist with every way of loading; the others of one GPU with those of only_to_read()).
const void* sum_kernel(value_type, loads, joining);
// The second kernel, of one block, which adds up the stored sums of the blocks. `dependent`: for the kernel
// that starts early and waits inside.
const void* joining_kernel(value_type, bool dependent);
// Parameters: const void* partials, std::size_t count, void* result.

inline constexpr unsigned cluster_blocks = 8;

}  // namespace mgsync::reduction
