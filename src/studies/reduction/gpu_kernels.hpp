// The kernels of sums on GPUs, as host code names them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "barriers/parts/algorithm/grid_choice.hpp"
#include "barriers/parts/round_loop/device_run.hpp"
#include "src/studies/reduction/numbers.hpp"
#include "src/studies/reduction/reading.hpp"

namespace mgsync::reduction {

// What becomes of the blocks' sums.
enum class joining {
  none,       // each is stored, and that is all
  last,       // the last block by a counter adds them up
  inbox,      // whoever is not block 0 sends it its sum with a flag in every word; the next kernel may start
              // early and waits inside
  grid_sync,  // cooperative groups' barrier of the grid, then block 0 adds them up
  counter,    // this project's barrier of the grid: spread counters
  relay,      // the same: relay
  cluster,    // clusters of eight blocks join over distributed shared memory, the last cluster's first block
              // adds up
  last_of_several,  // as last, of all GPUs' blocks
  several,          // this project's barrier of several GPUs, then GPU 0's block 0 adds up
  gathered,         // GPU by GPU up a tree, without a barrier
  dependent,        // stored; the next kernel may start early and waits for this one inside
};

// The kernel's only parameter, the same for all of them.
struct sum_arguments {
  const void* numbers = nullptr;
  std::size_t count = 0;
  void* partials = nullptr;  // one per block (inbox: 16 bytes, zero before and after); of several GPUs: of
                             // all their blocks, on GPU 0
  void* result = nullptr;
  unsigned long long* arrived = nullptr;  // zero before and after
  bool in_chunks = false;
};
// Beside it, for joining by a barrier of this project: where its flags lie on every GPU, and its shape.
template <class Shape>
struct barrier_arguments {
  std::uint32_t* parts[algorithm::most_gpus] = {};
  Shape shape{};
  round_loop::device_run run{};
};
// Beside it, for a tree of GPUs: slots of 16 bytes, zero before and after.
struct gather_arguments {
  void* from = nullptr;  // on this GPU, one for each GPU below it
  unsigned children = 0;
  void* to = nullptr;  // on the GPU above; nothing: this is the root
};
using counter_arguments = barrier_arguments<algorithm::spread_shape>;
using relay_arguments = barrier_arguments<algorithm::relay_shape>;

// nullptr: there is no such kernel (only `none`, `last` and `inbox` exist with every way of loading).
const void* sum_kernel(value_type, loads, joining);
// One block: the sum of `sums` (count: how many) into *result. `dependent`: as the second kernel of such a
// pair.
const void* joining_kernel(value_type, bool dependent);
// Parameters: const void* partials, std::size_t count, void* result.

inline constexpr unsigned cluster_blocks = 8;

}  // namespace mgsync::reduction
