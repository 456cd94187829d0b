// Paper 002's region (store to shared memory, barrier of the block, load) between two reads of the SM's cycle counter: as the
// compiler leaves it, corrected, and in its parts; and loads side by side, whose latencies overlap. The paper moved clock
// reads by hand in the machine code. A read that depends on a value stands where that value has arrived: the same, without
// an assembler (docs/studies/timeline.md).
#include "src/studies/probes/probe_frame.hpp"

namespace {

using mgsync::probes::arguments;

// Past L1, as the paper's loads went (LDG.E.SYS): their wait is what an unchecked probe takes for shared memory's.
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

// Where a thread stores and where it loads, as addresses out of global memory: the compiler knows neither, and nothing has to
// be computed of them. The thread's own 4 bytes, and what it stores is their address.
struct places {
  std::uint32_t store_at, load_at;
  __device__ __forceinline__ void find(const arguments& a) {
    store_at = far_load(a.output + threadIdx.x);
    load_at = far_load(a.output + threadIdx.x);
  }
  __device__ __forceinline__ std::uint32_t all() const { return store_at ^ (load_at << 1); }
};

// What stands between the clock reads.
struct whole_region : places {
  std::uint32_t loaded;
  __device__ __forceinline__ void run() {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(store_at), "r"(store_at) : "memory");
    __syncthreads();
    loaded = shared_load(load_at);
  }
  __device__ __forceinline__ std::uint32_t value() const { return loaded; }
};
struct store_part : places {
  __device__ __forceinline__ void run() { asm volatile("st.shared.u32 [%0], %1;" ::"r"(store_at), "r"(store_at) : "memory"); }
  __device__ __forceinline__ std::uint32_t value() const { return load_at; }
};
struct barrier_part : places {
  __device__ __forceinline__ void run() { __syncthreads(); }
  __device__ __forceinline__ std::uint32_t value() const { return load_at; }
};
struct load_part : places {
  std::uint32_t loaded;
  __device__ __forceinline__ void run() { loaded = shared_load(load_at); }
  __device__ __forceinline__ std::uint32_t value() const { return loaded; }
};
struct nothing : places {
  __device__ __forceinline__ void run() {}
  __device__ __forceinline__ std::uint32_t value() const { return load_at; }
};
// Loads that do not wait for each other, each 512 bytes on.
template <int Count>
struct loads : places {
  std::uint32_t loaded[Count];
  __device__ __forceinline__ void run() {
#pragma unroll
    for (int k = 0; k < Count; ++k) loaded[k] = shared_load(load_at + 512 * k);
  }
  __device__ __forceinline__ std::uint32_t value() const {
    std::uint32_t all = 0;
#pragma unroll
    for (int k = 0; k < Count; ++k) all ^= loaded[k];
    return all;
  }
};
// Two different instructions, apart and side by side.
struct shuffle_part : places {
  std::uint32_t moved;
  __device__ __forceinline__ void run() { moved = __shfl_xor_sync(0xffffffffu, load_at, 1); }
  __device__ __forceinline__ std::uint32_t value() const { return moved; }
};
struct load_and_shuffle : places {
  std::uint32_t loaded, moved;
  __device__ __forceinline__ void run() {
    loaded = shared_load(load_at);
    moved = __shfl_xor_sync(0xffffffffu, load_at, 1);
  }
  __device__ __forceinline__ std::uint32_t value() const { return loaded ^ moved; }
};

// Corrected: the first read waits for all that the region needs, the second for what it loaded.
template <class Region, bool Corrected>
__device__ __forceinline__ void timed_region(const arguments& a) {
  extern __shared__ std::uint32_t shared[];
  a.output[threadIdx.x] = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared + threadIdx.x));
  const std::uint32_t warps = gridDim.x * (blockDim.x / 32), warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const std::uint32_t never = a.held->never, sm_before = mgsync::probes::this_sm(), passes = a.passes;
  Region region;
  std::uint64_t begin = 0, end = 0;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    __syncthreads();
    region.find(a);
    begin = Corrected ? mgsync::probes::clock_after(region.all(), never) : mgsync::probes::clock_now();
    region.run();
    end = Corrected ? mgsync::probes::clock_after(region.value(), never) : mgsync::probes::clock_now();
    const auto behind = static_cast<std::uint32_t>(end >> 63);
    a.stamps[static_cast<std::size_t>(pass + behind) * warps + warp + behind] = {begin, end};
    if (region.value() == never) a.output[threadIdx.x + behind] = 0;  // so that it is needed
  }
  const auto behind = static_cast<std::uint32_t>(end >> 63);
  a.sms[warp + behind] = sm_before;
  a.sms[warps + warp + behind] = mgsync::probes::this_sm();
}

}  // namespace

#define MGSYNC_REGION(name, Region, corrected)                                                         \
  extern "C" __global__ void name(const __grid_constant__ mgsync::probes::arguments a) {               \
    timed_region<Region, corrected>(a);                                                                \
  }

MGSYNC_REGION(region_as_compiled, whole_region, false)
MGSYNC_REGION(region_corrected, whole_region, true)
MGSYNC_REGION(region_store, store_part, true)
MGSYNC_REGION(region_barrier, barrier_part, true)
MGSYNC_REGION(region_load, load_part, true)
MGSYNC_REGION(region_nothing, nothing, true)
MGSYNC_REGION(loads_1, loads<1>, true)
MGSYNC_REGION(loads_2, loads<2>, true)
MGSYNC_REGION(loads_4, loads<4>, true)
MGSYNC_REGION(loads_8, loads<8>, true)
MGSYNC_REGION(loads_16, loads<16>, true)
MGSYNC_REGION(shuffle_alone, shuffle_part, true)
MGSYNC_REGION(load_beside_shuffle, load_and_shuffle, true)
