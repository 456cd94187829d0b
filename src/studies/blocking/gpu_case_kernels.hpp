// The parameters of the kernels of the cases on GPUs, and how the host gets these kernels.
#pragma once

#include <cstdint>
#include <string_view>

namespace mgsync::blocking {

// The same as blocking::absence, in the same order: device code cannot include blocking_case.hpp.
enum class away : unsigned { nobody, exit_before, exit_late, spin, elsewhere, late, drop };
enum class chosen : unsigned { first, last, half };

struct gpu_progress {  // pinned host memory, all zero
  unsigned long long arrived, left, acted;
  unsigned heartbeat;   // for barriers that name the absent
  unsigned zero;        // always 0
  unsigned unused[24];  // fills a line of 128 bytes
};
static_assert(sizeof(gpu_progress) == 128);

struct gpu_counts {  // in memory that all GPUs reach, all zero
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

// What a kernel needs for this project's barrier: the lines of flags on each GPU, all zero, and the bound of
// its waits.
struct flags_of_case {
  static constexpr unsigned most_gpus = 16;
  static constexpr std::uint32_t timed_out = 1;  // value of the abort word once a wait has timed out

  std::uint32_t* here[most_gpus];
  std::uint32_t* elsewhere[most_gpus];
  std::uint32_t* abort;
  std::uint64_t budget_ns;
  unsigned gpu, gpus;
};

// The kernel for a level within one GPU: lanes of a warp (blocks of 32 threads), warps of a block, blocks of
// a cluster. It has two blocks, or two clusters, of which the first is the guard. nullptr where there is none
// of that name. Parameter: gpu_board.
const void* kernel_inside(std::string_view level, std::string_view method, bool predicated);
// The kernel whose participants are all blocks of a grid, to be launched cooperatively; the guard is another
// kernel. Parameter: gpu_board.
const void* kernel_of_grid(bool predicated);
// The kernel with our barrier, over the blocks of a grid or of several GPUs, or over whole GPUs. Parameters:
// gpu_board, flags_of_case, whole_gpus.
const void* kernel_of_flags(bool predicated);
// The kernel of one thread that guards another kernel. Parameter: gpu_board.
const void* kernel_of_guard();
// A kernel that spins until it is released, which the guard must be able to end. Parameter: gpu_board.
const void* kernel_that_spins();
// A kernel that adds up 0 .. count - 1. Parameters: unsigned long long* sum, unsigned count.
const void* kernel_that_sums();

// Part 1: rounds of the lanes of a warp, each lane in a branch of its own.
struct lane_rounds {
  unsigned rounds;  // per warp; block 0 is the guard, every other block is a warp
  unsigned seed;
  unsigned long long bound_ns;
  unsigned long long* violations;  // rounds with a violation; 0 at first
  unsigned long long* wrong;       // rounds in which a lane read a wrong value
  unsigned* warps_done;
  unsigned* ended_by_guard;  // in host memory, 0 at first; set to 1 before the trap
  unsigned* reached;         // in host memory: the round that block 1 is in, from 1 on
  long long* begin;          // 32 stamps, one per lane, of one round of block 1
  long long* end;
};
const void* kernel_of_lane_rounds(std::string_view method, bool with_barrier);

}  // namespace mgsync::blocking
