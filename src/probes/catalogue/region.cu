// Paper 002's region (store to shared memory, barrier of the block, load) between two reads of the SM's cycle
// counter: as the compiler leaves it, corrected, and in its parts; and loads side by side, whose latencies
// overlap.
#include "src/probes/probe_kernels.hpp"
#include "src/probes/region_frame.hpp"

namespace {

using namespace mgsync::probes;

// The whole region between the clock reads.
struct whole_region : places {
  std::uint32_t loaded;
  __device__ __forceinline__ void run() {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(store_at), "r"(store_at) : "memory");
    __syncthreads();
    loaded = shared_load(load_at);
  }
  __device__ __forceinline__ std::uint32_t value() const { return loaded; }
};
struct load_part : places {
  std::uint32_t loaded;
  __device__ __forceinline__ void run() { loaded = shared_load(load_at); }
  __device__ __forceinline__ std::uint32_t value() const { return loaded; }
};
// The parts as chains, whose slopes contain no clock reads: a warp's store and load, the barrier, and the
// load alone. The value that passes from link to link is the word's own address.
template <int Links>
struct stores_and_loads : places {
  __device__ __forceinline__ void run() {
#pragma unroll
    for (int k = 0; k < Links; ++k)
      asm volatile("st.volatile.shared.u32 [%0], %0;\n ld.volatile.shared.u32 %0, [%0];"
                   : "+r"(load_at)::"memory");
  }
  __device__ __forceinline__ std::uint32_t value() const { return load_at; }
};
template <int Links>
struct barriers : places {
  __device__ __forceinline__ void run() {
#pragma unroll
    for (int k = 0; k < Links; ++k) __syncthreads();
  }
  __device__ __forceinline__ std::uint32_t value() const { return load_at; }
};
// Independent loads, 512 bytes apart. Combining their results costs the same for any count, since the result
// of one load is combined with a word too.
template <int Count>
struct loads : places {
  std::uint32_t loaded[Count];
  __device__ __forceinline__ void run() {
#pragma unroll
    for (int k = 0; k < Count; ++k) loaded[k] = shared_load(load_at + 512 * k);
  }
  __device__ __forceinline__ std::uint32_t value() const {
    std::uint32_t all = store_at;
#pragma unroll
    for (int k = 0; k < Count; ++k) all ^= loaded[k];
    return all;
  }
};
// Two different instructions, apart and side by side.
struct shuffle_part : places {
  std::uint32_t moved;
  __device__ __forceinline__ void run() { moved = __shfl_xor_sync(0xffffffffu, load_at, 1); }
  __device__ __forceinline__ std::uint32_t value() const { return moved ^ store_at; }
};
struct load_and_shuffle : places {
  std::uint32_t loaded, moved;
  __device__ __forceinline__ void run() {
    loaded = shared_load(load_at);
    moved = __shfl_xor_sync(0xffffffffu, load_at, 1);
  }
  __device__ __forceinline__ std::uint32_t value() const { return loaded ^ moved; }
};

}  // namespace

#include "src/probes/catalogue/region.inc"
