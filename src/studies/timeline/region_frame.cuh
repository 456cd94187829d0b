// The frame for code that stands once between two reads of the SM's cycle counter, not as a chain: paper
// 002's region, and single instructions. The clock reads are either as the compiler leaves them or corrected:
// the first waits for all operands, the second for the result. The paper moved the clock reads in the machine
// code by hand; here a read is made to depend on a value, so that it cannot be issued before the value has
// arrived, and no assembler is needed (docs/studies/timeline.md).
//
// What is timed is a struct with
//   __device__ void find(const arguments&)     // loads its operands from memory, in every pass
//   __device__ void meet()                     // corrected only: brings all warps together before the first
//   read
//   __device__ std::uint32_t all() const       // depends on all operands; the first read waits for it
//   __device__ void run()
//   __device__ std::uint32_t value() const     // depends on all results; the second read waits for it
#pragma once

#include "src/probes/probe_frame.hpp"

namespace mgsync::timelines {

using probes::arguments;

// A load that bypasses L1, as the paper's did (LDG.E.SYS): an unchecked probe mistakes the wait for it for
// the latency of shared memory.
__device__ __forceinline__ std::uint32_t far_load(const std::uint32_t* from) {
  std::uint32_t v;
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
  return v;
}
__device__ __forceinline__ std::uint32_t shared_load(std::uint32_t at) {
  std::uint32_t v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  return v;
}

// The addresses in shared memory where a thread stores and loads. They are loaded from global memory, so that
// the compiler knows neither and no address arithmetic is needed. Both are the address of the thread's own 4
// bytes, and this address is also what is stored there.
struct places {
  std::uint32_t store_at, load_at;
  __device__ __forceinline__ void find(const arguments& a) {
    store_at = far_load(a.output + threadIdx.x);
    load_at = far_load(a.output + threadIdx.x);
  }
  // Brings the warps together before the first clock read. The load behind the barrier is what waits for it:
  // arithmetic instructions after a barrier may be issued before it has completed (BAR.SYNC.DEFER_BLOCKING).
  // The word that is loaded is its own address again.
  __device__ __forceinline__ void meet() {
    asm volatile("st.shared.u32 [%0], %0;" ::"r"(store_at) : "memory");
    __syncthreads();
    load_at = shared_load(load_at);
  }
  __device__ __forceinline__ std::uint32_t all() const { return store_at ^ (load_at << 1); }
};

struct nothing : places {
  __device__ __forceinline__ void run() {}
  __device__ __forceinline__ std::uint32_t value() const { return load_at; }
};

// The latency of a load as a chain, whose slope contains no clock reads; with it, the cost of the clock reads
// is found from a single load.
template <int Links>
struct chased_loads : places {
  __device__ __forceinline__ void run() {
#pragma unroll
    for (int k = 0; k < Links; ++k)
      asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(load_at)::"memory");
  }
  __device__ __forceinline__ std::uint32_t value() const { return load_at; }
};

template <class Region, bool Corrected>
__device__ __forceinline__ void timed_region(const arguments& a) {
  extern __shared__ std::uint32_t shared[];
  a.output[threadIdx.x] = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared + threadIdx.x));
  const std::uint32_t warps = gridDim.x * (blockDim.x / 32),
                      warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const std::uint32_t never = a.held->never, sm_before = probes::this_sm(), passes = a.passes;
  Region region;
  std::uint64_t begin = 0, end = 0;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    __syncthreads();
    region.find(a);
    if constexpr (Corrected) region.meet();
    begin = Corrected ? probes::clock_after(region.all(), never) : probes::clock_now();
    region.run();
    end = Corrected ? probes::clock_after(region.value(), never) : probes::clock_now();
    const auto behind = static_cast<std::uint32_t>(end >> 63);
    a.stamps[static_cast<std::size_t>(pass + behind) * warps + warp + behind] = {begin, end};
    if (region.value() == never) a.output[threadIdx.x + behind] = 0;  // keeps the value alive
  }
  const auto behind = static_cast<std::uint32_t>(end >> 63);
  a.sms[warp + behind] = sm_before;
  a.sms[warps + warp + behind] = probes::this_sm();
}

}  // namespace mgsync::timelines

#define MGSYNC_REGION(name, Region, corrected)                                                               \
  extern "C" __global__ void name(const __grid_constant__ mgsync::probes::arguments a) {                     \
    mgsync::timelines::timed_region<Region, corrected>(a);                                                   \
  }
