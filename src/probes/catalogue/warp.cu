// Probes of a warp (000 section V-A, table II; 001 table 4): shuffles, barriers, votes and reductions of its
// lanes. Converged lanes and lanes from two branches are measured separately: on Hopper a barrier of
// converged lanes compiles to no instruction.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "src/probes/probe_kernels.hpp"

namespace {

namespace cg = cooperative_groups;
using namespace mgsync::probes;

template <int Size>
struct tile_shuffle : word_per_lane {
  cg::thread_block_tile<Size> tile;
  __device__ explicit tile_shuffle(const arguments& a)
      : word_per_lane(a), tile(cg::tiled_partition<Size>(cg::this_thread_block())) {}
  __device__ void step() { v = tile.shfl_xor(v, Size > 1 ? 1 : 0); }
};

template <int Distance>
struct shuffle : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { v = __shfl_xor_sync(0xffffffffu, v, Distance); }
};

struct shuffle_64_bits {
  std::uint64_t v;
  __device__ explicit shuffle_64_bits(const arguments& a)
      : v(static_cast<std::uint64_t>(a.input[threadIdx.x]) << 32 | a.input[blockDim.x + threadIdx.x]) {}
  __device__ void step() { v = __shfl_xor_sync(0xffffffffu, static_cast<unsigned long long>(v), 1); }
  __device__ std::uint32_t value() const {
    return static_cast<std::uint32_t>(v) ^ static_cast<std::uint32_t>(v >> 32);
  }
};

struct coalesced_shuffle : word_per_lane {
  cg::coalesced_group group;
  __device__ explicit coalesced_shuffle(const arguments& a)
      : word_per_lane(a), group(cg::coalesced_threads()) {}
  __device__ void step() { v = group.shfl_down(v, 1); }
};

template <int Size>
struct tile_sync : word_per_lane {
  cg::thread_block_tile<Size> tile;
  __device__ explicit tile_sync(const arguments& a)
      : word_per_lane(a), tile(cg::tiled_partition<Size>(cg::this_thread_block())) {}
  __device__ void step() { tile.sync(); }
};

// A group whose size is known at run time only, as in the earlier report: library code.
struct thread_group_sync : word_per_lane {
  cg::thread_group group;
  __device__ explicit thread_group_sync(const arguments& a)
      : word_per_lane(a), group(cg::tiled_partition(cg::this_thread_block(), a.words)) {}
  __device__ void step() { group.sync(); }
};

struct coalesced_sync : word_per_lane {
  cg::coalesced_group group;
  __device__ explicit coalesced_sync(const arguments& a) : word_per_lane(a), group(cg::coalesced_threads()) {}
  __device__ void step() { group.sync(); }
};

struct syncwarp_full : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { __syncwarp(); }
};

struct syncwarp_mask : word_per_lane {
  std::uint32_t mask;
  __device__ explicit syncwarp_mask(const arguments& a) : word_per_lane(a), mask(a.lanes) {}
  __device__ void step() { __syncwarp(mask); }
};

// Votes and reductions, whose result is the same for all lanes. Each lane combines it with a word of its own;
// otherwise the compiler could derive the next link's result.
struct own_lane : word_per_lane {
  std::uint32_t own;
  __device__ explicit own_lane(const arguments& a)
      : word_per_lane(a), own(a.input[blockDim.x + threadIdx.x]) {}
};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define MGSYNC_REDUX(name, call)                                                                             \
  struct name : own_lane {                                                                                   \
    using own_lane::own_lane;                                                                                \
    __device__ void step() { v = call(0xffffffffu, v) ^ own; }                                               \
  };
MGSYNC_REDUX(redux_add, __reduce_add_sync)
MGSYNC_REDUX(redux_min, __reduce_min_sync)
MGSYNC_REDUX(redux_and, __reduce_and_sync)
struct group_reduce : own_lane {
  cg::thread_block_tile<32> tile;
  __device__ explicit group_reduce(const arguments& a)
      : own_lane(a), tile(cg::tiled_partition<32>(cg::this_thread_block())) {}
  __device__ void step() { v = cg::reduce(tile, v, cg::plus<std::uint32_t>()) ^ own; }
};
#endif
struct vote_ballot : own_lane {
  using own_lane::own_lane;
  __device__ void step() { v = __ballot_sync(0xffffffffu, v == own); }
};
struct match_any : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { v = __match_any_sync(0xffffffffu, v); }
};
struct match_all : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() {
    int same;
    v = __match_all_sync(0xffffffffu, v, &same);
  }
};
// ptxas knows that electing again among the same lanes gives the same lane, and would reduce a chain to one
// election. Here the mask depends on the lane elected before, so that every election stays. (The mask is
// always all lanes, but only the host knows this.)
#if __CUDA_ARCH__ >= 900
struct elected_lane : word_per_lane {
  std::uint32_t all;
  __device__ explicit elected_lane(const arguments& a) : word_per_lane(a), all(a.lanes) {}
  __device__ void step() {
    asm volatile("{\n .reg .pred elected;\n elect.sync %0|elected, %1;\n}" : "=r"(v) : "r"(all | v));
  }
};
#endif

// A chain in the lanes of a.lanes only.
template <class Op, int Links>
__device__ __forceinline__ void some_lanes(const arguments& a) {
  if ((a.lanes >> (threadIdx.x % 32) & 1) != 0) chain<Op, Links>(a);
}

// A chain in two branches: the lower half of the lanes is timed, and the upper half meets it at every link.
template <class Op, int Links>
__device__ __forceinline__ void two_branches(const arguments& a) {
  if (threadIdx.x % 32 < 16) {
    chain<Op, Links>(a);
  } else {
    Op op(a);
    const std::uint32_t passes = a.passes;
#pragma unroll 1
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
#pragma unroll
      for (int step = 0; step < Links; ++step) op.step();
    }
    if (op.value() == a.held->never) a.output[threadIdx.x] = op.value();
  }
}

}  // namespace

#include "src/probes/catalogue/warp.inc"
