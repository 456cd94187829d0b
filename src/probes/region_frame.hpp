// Work that stands once between two clock reads, not as a chain: paper 002's region, and pairs of
// instructions. A region is a struct over the places in shared memory where a thread stores and loads, with
//   __device__ void run()
//   __device__ std::uint32_t value() const     // depends on all results; the second read waits for it
// Its operands are loaded from memory in every pass. What happens where nothing makes the clock reads wait
// stands in docs/studies/timeline.md.
#pragma once

#include "src/probes/probe_frame.hpp"

namespace mgsync::probes {

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

// A region in the frame: loads its operands, and where the clock reads are to wait brings all warps together.
template <class Region, reads Reads>
struct region_work : work {
  __device__ __forceinline__ static warp_place place() {
    return {gridDim.x * (blockDim.x / 32), blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32};
  }
  Region region;
  __device__ __forceinline__ void ready(const arguments& a) {
    __syncthreads();
    region.find(a);
    if constexpr (Reads == reads::wait_for_both) region.meet();
  }
  __device__ __forceinline__ std::uint32_t operands() const { return region.all(); }
  __device__ __forceinline__ void run() { region.run(); }
  __device__ __forceinline__ std::uint32_t value() const { return region.value(); }
  __device__ __forceinline__ void keep(const arguments& a, const pass_end& at) const {
    if (region.value() == at.never) a.output[threadIdx.x + at.zero] = 0;  // keeps the value alive
  }
};

// The forms of regions: of one by itself, and of one that is made of so many links.
template <class Region, int Kernel>
__device__ __forceinline__ void part_of_region(const arguments& a) {
  extern __shared__ std::uint32_t shared[];
  a.output[threadIdx.x] = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared + threadIdx.x));
  constexpr auto how = Kernel == as_compiled ? reads::as_compiled : reads::wait_for_both;
  region_work<Region, how> work;
  timed_passes<how>(a, work);
}
template <template <int> class Region, int Links>
__device__ __forceinline__ void parts_of_region(const arguments& a) {
  part_of_region<Region<Links>, alone>(a);
}

}  // namespace mgsync::probes
