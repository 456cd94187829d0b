// Probes of a block's barriers (000 section V-B, figure 4; 001 table 5): bar.sync, named barriers, a hand-over between two
// warps, barriers that reduce, barriers in shared memory.
#include <cuda/barrier>

#include "src/studies/probes/probe_frame.hpp"

namespace {

using mgsync::probes::arguments;

struct word_per_lane {
  std::uint32_t v;
  __device__ explicit word_per_lane(const arguments& a) : v(a.input[threadIdx.x]) {}
  __device__ std::uint32_t value() const { return v; }
};

struct block_sync : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { __syncthreads(); }
};

// A barrier with a name, for as many threads as are said at run time.
struct named_sync : word_per_lane {
  std::uint32_t threads;
  __device__ explicit named_sync(const arguments& a) : word_per_lane(a), threads(blockDim.x) {}
  __device__ void step() { asm volatile("barrier.sync.aligned 1, %0;" ::"r"(threads) : "memory"); }
};

struct barrier_popc : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { v = static_cast<std::uint32_t>(__syncthreads_count(static_cast<int>(v & 1))) + threadIdx.x; }
};
struct barrier_and : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { v = static_cast<std::uint32_t>(__syncthreads_and(static_cast<int>(v & 1))) + threadIdx.x; }
};
struct barrier_or : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { v = static_cast<std::uint32_t>(__syncthreads_or(static_cast<int>(v & 1))) + threadIdx.x; }
};

// Two warps hand over to each other and back: the first arrives at one barrier and waits at the other. A link is a round trip.
struct hand_over : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() {
    asm volatile("barrier.arrive.aligned 1, 64;\n barrier.sync.aligned 2, 64;" ::: "memory");
  }
  __device__ void other_step() {
    asm volatile("barrier.sync.aligned 1, 64;\n barrier.arrive.aligned 2, 64;" ::: "memory");
  }
};

#if __CUDA_ARCH__ >= 800
// An mbarrier of all threads: arrive, then ask until the phase is over.
template <bool TryWait>
struct shared_barrier : word_per_lane {
  std::uint32_t address;
  std::uint32_t parity = 0;
  __device__ explicit shared_barrier(const arguments& a) : word_per_lane(a) {
    __shared__ std::uint64_t barrier;
    address = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x) : "memory");
    __syncthreads();
  }
  __device__ void step() {
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address) : "memory");
    if constexpr (TryWait) {
#if __CUDA_ARCH__ >= 900
      asm volatile(
          "{\n .reg .pred done;\nAGAIN:\n mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n @!done bra AGAIN;\n}" ::"r"(address),
          "r"(parity)
          : "memory");
#endif
    } else {
      asm volatile(
          "{\n .reg .pred done;\nAGAIN:\n mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n @!done bra AGAIN;\n}" ::"r"(address),
          "r"(parity)
          : "memory");
    }
    parity ^= 1;
  }
};

struct library_barrier : word_per_lane {
  cuda::barrier<cuda::thread_scope_block>* barrier;
  __device__ explicit library_barrier(const arguments& a) : word_per_lane(a) {
    __shared__ alignas(8) unsigned char storage[sizeof(cuda::barrier<cuda::thread_scope_block>)];
    barrier = reinterpret_cast<cuda::barrier<cuda::thread_scope_block>*>(storage);
    if (threadIdx.x == 0) init(barrier, static_cast<std::ptrdiff_t>(blockDim.x));
    __syncthreads();
  }
  __device__ void step() { barrier->arrive_and_wait(); }
};
#endif

template <int Steps>
__device__ __forceinline__ void hand_overs(const arguments& a) {
  if (threadIdx.x < 32) {
    mgsync::probes::timed_chain<hand_over, Steps>(a);
    return;
  }
  hand_over op(a);
  const std::uint32_t passes = a.passes;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
#pragma unroll
    for (int step = 0; step < Steps; ++step) op.other_step();
  }
}

}  // namespace

#define MGSYNC_HAND_OVER(steps)                                                                          \
  extern "C" __global__ void hand_over_##steps(const __grid_constant__ arguments a) { hand_overs<steps>(a); }

MGSYNC_PROBE_SLOPE(block_sync, block_sync)
MGSYNC_PROBE_LOOP(block_sync, block_sync, 256)
MGSYNC_PROBE_SLOPE(named_sync, named_sync)
MGSYNC_PROBE_SLOPE(barrier_popc, barrier_popc)
MGSYNC_PROBE_SLOPE(barrier_and, barrier_and)
MGSYNC_PROBE_SLOPE(barrier_or, barrier_or)
MGSYNC_HAND_OVER(4)
MGSYNC_HAND_OVER(8)
MGSYNC_HAND_OVER(16)
MGSYNC_HAND_OVER(32)
#if __CUDA_ARCH__ >= 800
MGSYNC_PROBE_SHORT_SLOPE(mbarrier_test_wait, shared_barrier<false>)
MGSYNC_PROBE_SHORT_SLOPE(library_barrier, library_barrier)
#endif
#if __CUDA_ARCH__ >= 900
MGSYNC_PROBE_SHORT_SLOPE(mbarrier_try_wait, shared_barrier<true>)
#endif
