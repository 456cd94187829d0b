// What the kernels of the cases on GPUs take, and where the host finds them.
#pragma once

#include <cstdint>
#include <string_view>

namespace mgsync::blocking {

// As in blocking_case.hpp, whose header device code does not read.
enum class away : unsigned { nobody, exit_before, exit_late, spin, elsewhere, late, drop };
enum class chosen : unsigned { first, last, half };

struct gpu_progress {  // pinned host memory, all zero
  unsigned long long arrived, left, acted;
  unsigned heartbeat;   // of barriers that name the absent
  unsigned zero;        // always
  unsigned unused[24];  // a line of its own
};
static_assert(sizeof(gpu_progress) == 128);

struct gpu_counts {  // memory that all GPUs reach, all zero
  unsigned long long tickets;
  unsigned present_done, all_done, release;
};

struct gpu_board {
  gpu_progress* places;
  gpu_counts* counts;
  unsigned participants;
  away how;
  chosen who;
  unsigned long long bound_ns;
};

// The barrier of this project as a kernel finds it: lines of flags on each GPU, all zero, and what bounds its
// waits.
struct flags_of_case {
  static constexpr unsigned most_gpus = 16;
  static constexpr std::uint32_t timed_out = 1;  // the abort word, once a wait gave up

  std::uint32_t* here[most_gpus];
  std::uint32_t* elsewhere[most_gpus];
  std::uint32_t* abort;
  std::uint64_t budget_ns;
  unsigned gpu, gpus;
};

// Of a level inside one GPU: lanes of a warp (blocks of 32 threads), warps of a block, blocks of a cluster.
// Two blocks, or two clusters, of which the first guards. Nothing where there is none of that name. Argument:
// gpu_board.
const void* kernel_inside(std::string_view level, std::string_view method, bool predicated);
// Of all blocks of a grid; needs a guard of its own. Argument: gpu_board; to be launched cooperatively.
const void* kernel_of_grid(bool predicated);
// Of ours, over the blocks of a grid, of several GPUs, or over whole GPUs. Arguments: gpu_board,
// flags_of_case, whole_gpus.
const void* kernel_of_flags(bool predicated);
// One thread that guards what another kernel does. Argument: gpu_board.
const void* kernel_of_guard();
// Spins until it is released: what the guard must be able to end. Argument: gpu_board.
const void* kernel_that_spins();
// Adds up 0 .. count - 1. Arguments: unsigned long long* sum, unsigned count.
const void* kernel_that_sums();

// Part 1: rounds of the lanes of a warp, each lane in a branch of its own.
struct lane_rounds {
  unsigned rounds;  // of each warp; block 0 guards, every other block is a warp
  unsigned seed;
  unsigned long long bound_ns;
  unsigned long long* violations;  // rounds, all zero
  unsigned long long* wrong;       // rounds in which a lane read what was of another
  unsigned* warps_done;
  unsigned* ended_by_guard;  // host memory, 0: set to 1 before the trap
  unsigned* reached;         // host memory: the round that block 1 is in, from 1 on
  long long* begin;          // 32 lanes: stamps of one round, of block 1
  long long* end;
};
const void* kernel_of_lane_rounds(std::string_view method, bool with_barrier);

}  // namespace mgsync::blocking
