// The kernels of the library's tests, as a user would write them.
#pragma once

#include <cstdint>

#include <mgsync/multi_grid_handle.hpp>

namespace mgsync::test {

// less: two rounds that order less ahead of each whole one. looks: in two calls, of which looks take the
// second's place. one_warp, some_warps: these alone take part, while the others go their own way.
// carries: rounds that carry values of every kind, each of whose results is asked, and one that does not.
// unlike: some blocks release, and what these wrote is read; then all do.
enum class way : unsigned { whole, split, mixed, less, looks, one_warp, some_warps, carries, unlike };

// Every GPU's slots, two per block in turn.
struct board {
  std::uint32_t* parts[multi_grid_handle::most_gpus];
};

// What a kernel found, on one GPU.
struct findings {
  unsigned long long wrong;
  unsigned given_up;  // blocks whose sync returned false
  unsigned size, grids;
  unsigned ranks;   // grid_rank and thread_rank were right in so many threads
  unsigned passed;  // of leave_kernel and nest_kernel: barriers that sync() let a block pass, of all blocks
                    // together
};

// (handle, slots, first round, rounds, way, findings): every block publishes the round, passes the barrier,
// and reads other blocks' rounds of all GPUs.
using check_kernel = void (*)(multi_grid_handle, board, unsigned, unsigned, way, findings*);
// (handle, rank, block, when, rounds, findings): that block, or every_block, leaves before round `when`; all
// others go on for `rounds`, whatever sync() says.
constexpr unsigned every_block = ~0u;
using leave_kernel = void (*)(multi_grid_handle, unsigned, unsigned, unsigned, unsigned, findings*);
// (handle, within, rounds up to 255, findings): `rounds` barriers of a group, of another one made within it
// or behind it (whose are counted as passed), and of the first one again (of which the most that failed in a
// block are given up).
using nest_kernel = void (*)(multi_grid_handle, bool, unsigned, findings*);
// (handle, words, rounds, findings): every block fills so many words of dynamic shared memory, and finds them
// behind each barrier.
using fill_kernel = void (*)(multi_grid_handle, unsigned, unsigned, findings*);
check_kernel check_rounds_kernel(way = way::whole);
leave_kernel leave_early_kernel();
leave_kernel in_clusters_kernel();  // the same, in clusters of four blocks
nest_kernel nested_kernel();
fill_kernel fill_shared_kernel();
const void* kernel_without_handle();

}  // namespace mgsync::test
