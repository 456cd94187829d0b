// The barriers that the cases test, by level, each in the form that take_part() calls.
#pragma once

#include <cooperative_groups.h>
#include <cuda/barrier>

#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "src/studies/blocking/gpu_board.cuh"

namespace mgsync::blocking {

// Waits at a named barrier for more warps than the block has.
__device__ inline void wait_where_nobody_comes() { asm volatile("barrier.sync 7, 1024;" ::: "memory"); }

struct at_hardware {
  __device__ void wait_elsewhere() { wait_where_nobody_comes(); }
  __device__ void drop() {}
};

struct with_syncwarp : at_hardware {
  __device__ bool meet(bool) {
    __syncwarp();
    return true;
  }
};
struct with_shuffle : at_hardware {
  __device__ bool meet(bool) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned got = __shfl_xor_sync(0xffffffffu, lane, 1);
    asm volatile("" ::"r"(got));  // uses the result, so that the shuffle is kept
    return true;
  }
};
struct with_ballot : at_hardware {
  __device__ bool meet(bool) {
    const unsigned got = __ballot_sync(0xffffffffu, threadIdx.x < 64);
    asm volatile("" ::"r"(got));
    return true;
  }
};
struct with_redux : at_hardware {
  __device__ bool meet(bool) {
#if __CUDA_ARCH__ >= 800
    const unsigned got = __reduce_add_sync(0xffffffffu, threadIdx.x);
    asm volatile("" ::"r"(got));
    return true;
#else
    return false;  // never launched there: the instruction does not exist
#endif
  }
};
struct with_tile : at_hardware {
  __device__ bool meet(bool) {
    cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block()).sync();
    return true;
  }
};
// The members are the lanes that are converged when the group is made.
struct with_coalesced : at_hardware {
  __device__ bool meet(bool) {
    cooperative_groups::coalesced_threads().sync();
    return true;
  }
};
// All __syncthreads() of a kernel are the same barrier, wherever they stand in the code.
struct with_syncthreads {
  __device__ bool meet(bool) {
    __syncthreads();
    return true;
  }
  __device__ void wait_elsewhere() { __syncthreads(); }
  __device__ void drop() {}
};
struct with_named_barrier : at_hardware {
  __device__ bool meet(bool) {
    asm volatile("barrier.sync 1, %0;" ::"r"(blockDim.x) : "memory");
    return true;
  }
};
struct with_mbarrier {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  barrier* here;
  barrier* other;
  __device__ bool meet(bool) {
    here->arrive_and_wait();
    return true;
  }
  __device__ void wait_elsewhere() { other->arrive_and_wait(); }
  __device__ void drop() { here->arrive_and_drop(); }
};
struct with_cluster : at_hardware {
  __device__ bool meet(bool) {
#if __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
    return true;
#else
    return false;  // never launched there: clusters do not exist
#endif
  }
};
struct with_grid_sync {
  __device__ bool meet(bool) {
    cooperative_groups::this_grid().sync();
    return true;
  }
  __device__ void wait_elsewhere() { cooperative_groups::this_grid().sync(); }
  __device__ void drop() {}
};

// This project's algorithm, over the blocks of one GPU or of several. A heartbeat tells who has arrived.
struct with_flags {
  const flags_of_case& flags;
  gpu_progress& mine;

  __device__ bool meet(bool speaks) {
    if (speaks) *static_cast<volatile unsigned*>(&mine.heartbeat) = 1;
    __threadfence_system();
    return round(flags.here);
  }
  __device__ void wait_elsewhere() { round(flags.elsewhere); }
  __device__ void drop() {}

 private:
  __device__ bool round(std::uint32_t* const (&parts)[flags_of_case::most_gpus]) const {
    static_assert(flags_of_case::timed_out == algorithm::cuda_limits::timed_out);
    static_assert(flags_of_case::most_gpus == algorithm::cuda_lines::most_members);
    algorithm::cuda_lines lines;
    for (unsigned i = 0; i < flags_of_case::most_gpus; ++i) lines.parts[i] = parts[i];
    algorithm::cuda_policy<algorithm::ptx::scope::system> policy(
        algorithm::cuda_limits{flags.abort, flags.budget_ns});
    return algorithm::dissemination<2>::arrive_and_wait(
        policy, lines, algorithm::position{flags.gpu, flags.gpus, blockIdx.x, gridDim.x}, 1);
  }
};

}  // namespace mgsync::blocking
