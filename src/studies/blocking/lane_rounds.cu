// Does a warp-level method hold every lane? (paper 000, figures 17 and 18.) Each lane comes in a branch of
// its own, at a time of its own.
#include <cooperative_groups.h>
#include <cuda/barrier>

#include "barriers/parts/algorithm/ptx.hpp"
#include "src/studies/blocking/gpu_case_kernels.hpp"

namespace mgsync::blocking {
namespace {

namespace cg = cooperative_groups;
constexpr unsigned whole_warp = 0xffffffffu;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// What a lane can see of the others. Methods that return a value are judged by this value, since they order
// no memory.
struct lane_view {
  unsigned lane;
  unsigned round;
  volatile unsigned* slots;  // one for each lane
  block_barrier* counted;    // a barrier that counts 32 arrivals
};
__device__ bool slots_are_wrong(const lane_view& v) {
  bool wrong = false;
  for (unsigned k = 1; k <= 4; ++k) wrong = wrong || v.slots[(v.lane + 7 * k) % 32] != v.round;
  return wrong;
}

struct holds_syncwarp {
  __device__ static bool meet(const lane_view& v) {
    __syncwarp();
    return slots_are_wrong(v);
  }
};
struct holds_tile {
  __device__ static bool meet(const lane_view& v) {
    cg::tiled_partition<32>(cg::this_thread_block()).sync();
    return slots_are_wrong(v);
  }
};
struct holds_coalesced {
  __device__ static bool meet(const lane_view& v) {
    cg::coalesced_threads().sync();
    return slots_are_wrong(v);
  }
};
struct holds_syncthreads {
  __device__ static bool meet(const lane_view& v) {
    __syncthreads();
    return slots_are_wrong(v);
  }
};
struct holds_named_barrier {
  __device__ static bool meet(const lane_view& v) {
    asm volatile("barrier.sync 1, 32;" ::: "memory");
    return slots_are_wrong(v);
  }
};
struct holds_mbarrier {
  __device__ static bool meet(const lane_view& v) {
    v.counted->arrive_and_wait();
    return slots_are_wrong(v);
  }
};
struct holds_shuffle {
  __device__ static bool meet(const lane_view& v) {
    const unsigned from = (v.lane + 1) % 32;
    return __shfl_sync(whole_warp, v.round * 32 + v.lane, static_cast<int>(from)) != v.round * 32 + from;
  }
};
struct holds_ballot {
  __device__ static bool meet(const lane_view& v) {
    return __ballot_sync(whole_warp, (v.round >> (v.lane % 8) & 1) != 0) != (v.round & 0xff) * 0x01010101u;
  }
};
struct holds_redux {
  __device__ static bool meet(const lane_view& v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(whole_warp, v.round + v.lane) != 32 * v.round + 496;
#else
    return v.lane < 32;  // never launched there: the instruction does not exist
#endif
  }
};
struct holds_nothing {  // the control
  __device__ static bool meet(const lane_view&) { return false; }
};

struct lane_stamps {
  long long begin, end;
  bool wrong;
};

// A branch of its own for each lane: its number in the code keeps the compiler from merging the branches.
template <class Method, unsigned Lane>
__device__ __forceinline__ void in_its_branch(const lane_view& v, unsigned delay, lane_stamps& s) {
  if constexpr (Lane < 32) {
    if (v.lane != Lane) return in_its_branch<Method, Lane + 1>(v, delay, s);
    unsigned mark;
    asm volatile("mov.u32 %0, %1;" : "=r"(mark) : "n"(Lane));
    for (const long long until = clock64() + delay; clock64() < until;) {}
    v.slots[mark] = v.round;
    s.begin = clock64();
    s.wrong = Method::meet(v);
    s.end = clock64();
    asm volatile("mov.u32 %0, %1;" : "=r"(mark) : "n"(Lane + 100));
    asm volatile("" ::"r"(mark));
  }
}

__device__ unsigned mixed(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

__device__ void guard_rounds(const lane_rounds& a) {
  const auto begin = algorithm::ptx::global_time_ns();
  while (*static_cast<volatile unsigned*>(a.warps_done) + 1 < gridDim.x) {
    if (algorithm::ptx::global_time_ns() - begin > a.bound_ns) {
      *static_cast<volatile unsigned*>(a.ended_by_guard) = 1;
      __threadfence_system();
      __trap();
    }
    __nanosleep(1000);
  }
}

template <class Method>
__global__ void rounds_of_lanes(lane_rounds a) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) guard_rounds(a);
    return;
  }
  constexpr unsigned stair_cycles = 200;  // in the round whose stamps are kept
  __shared__ unsigned slots[2][32];
  __shared__ alignas(block_barrier) unsigned char barrier_memory[sizeof(block_barrier)];
  auto* const counted = reinterpret_cast<block_barrier*>(barrier_memory);
  const unsigned lane = threadIdx.x;
  if (lane == 0) init(counted, 32);
  __syncwarp();
  unsigned long long violations = 0, wrong = 0;
  for (unsigned r = 0; r < a.rounds; ++r) {
    if (blockIdx.x == 1 && lane == 0) *static_cast<volatile unsigned*>(a.reached) = r + 1;
    const bool shown = r == a.rounds / 2;
    const unsigned delay =
        shown ? lane * stair_cycles : mixed(a.seed + (r * gridDim.x + blockIdx.x) * 32 + lane) % 1024;
    lane_stamps s{};
    __syncwarp();
    in_its_branch<Method, 0>(lane_view{lane, r + 1, slots[r & 1], counted}, delay, s);
    __syncwarp();
    long long last_begin = s.begin, first_end = s.end;
    for (int step = 16; step > 0; step /= 2) {
      last_begin = max(last_begin, __shfl_xor_sync(whole_warp, last_begin, step));
      first_end = min(first_end, __shfl_xor_sync(whole_warp, first_end, step));
    }
    violations += last_begin > first_end;
    wrong += __any_sync(whole_warp, s.wrong) != 0;
    if (shown && blockIdx.x == 1) {
      a.begin[lane] = s.begin;
      a.end[lane] = s.end;
    }
  }
  if (lane != 0) return;
  atomicAdd(a.violations, violations);
  atomicAdd(a.wrong, wrong);
  __threadfence();
  atomicAdd(a.warps_done, 1u);
}

template <class Method>
const void* rounds_with() {
  return reinterpret_cast<const void*>(rounds_of_lanes<Method>);
}

}  // namespace

const void* kernel_of_lane_rounds(std::string_view method, bool with_barrier) {
  if (!with_barrier) return rounds_with<holds_nothing>();
  if (method == "syncwarp") return rounds_with<holds_syncwarp>();
  if (method == "tile") return rounds_with<holds_tile>();
  if (method == "coalesced") return rounds_with<holds_coalesced>();
  if (method == "syncthreads") return rounds_with<holds_syncthreads>();
  if (method == "named-barrier") return rounds_with<holds_named_barrier>();
  if (method == "mbarrier") return rounds_with<holds_mbarrier>();
  if (method == "shuffle") return rounds_with<holds_shuffle>();
  if (method == "ballot") return rounds_with<holds_ballot>();
  if (method == "redux") return rounds_with<holds_redux>();
  return nullptr;
}

}  // namespace mgsync::blocking
