// Device code that combines partial sums: of a warp, a block, a cluster, and of a grid by its last block or
// by block 0.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "src/studies/reduction/gpu_kernels.hpp"

namespace mgsync::reduction {

// The sum over the block's threads, returned in its first warp. All threads of the block call it; the block
// is a multiple of 32 threads.
template <class T>
__device__ __forceinline__ T sum_of_warp(T mine) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, step);
  return mine;
}
template <>
__device__ __forceinline__ std::uint32_t sum_of_warp(std::uint32_t mine) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, mine);
#else
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, step);
  return mine;
#endif
}
template <class T>
__device__ __forceinline__ T sum_of_block(T mine) {
  __shared__ T warps[32];
  mine = sum_of_warp(mine);
  if (blockDim.x == 32) return mine;
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x >= 32) return T{0};
  return sum_of_warp(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : T{0});
}

namespace device {

// The sum of `count` values that other blocks stored, read past L1; returned in lane 0 of the first warp. All
// threads of the block call it.
template <class T>
__device__ __forceinline__ T sum_of_stored(const T* sums, std::size_t count) {
  T mine = 0;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) mine += __ldcv(sums + i);
  return sum_of_block(mine);
}

template <class T>
__device__ __forceinline__ T* at(void* memory) {
  return static_cast<T*>(memory);
}

// Counts the calling block in, and returns in all its threads whether it is the last of `blocks`; if so, what
// the others stored before is visible, and the counter is 0 again.
__device__ __forceinline__ bool comes_last(unsigned long long* arrived, unsigned blocks) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1ull) + 1 == blocks;
    if (last) *arrived = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

// The last block to arrive at a counter adds up. 32-bit integers are added within the counter itself, so that
// one atomic operation per block is enough.
template <class T>
__device__ __forceinline__ void join_last(const sum_arguments& given, T mine, unsigned block,
                                          unsigned blocks) {
  if (blocks == 1) {
    if (threadIdx.x == 0) *at<T>(given.result) = mine;
    return;
  }
  if constexpr (sizeof(T) == 4 && T(1) / T(2) == T(0)) {
    if (threadIdx.x != 0) return;
    const auto before = atomicAdd(given.arrived, (static_cast<unsigned long long>(mine) << 32) + 1);
    if (static_cast<unsigned>(before) + 1 != blocks) return;
    *at<T>(given.result) = static_cast<T>(before >> 32) + mine;
    *given.arrived = 0;
  } else {
    if (threadIdx.x == 0) at<T>(given.partials)[block] = mine;
    if (!comes_last(given.arrived, blocks)) return;
    const T all = sum_of_stored(at<T>(given.partials), blocks);
    if (threadIdx.x == 0) *at<T>(given.result) = all;
  }
}

// Slots of block 0: every other block sends its sum in 32-bit words with a flag beside each. A word and its
// flag are stored at once, so no fence is needed. Only block 0 waits, so blocks that are not yet resident
// cannot cause a deadlock. It leaves all slots zero.
__device__ __forceinline__ void send(uint4* slot, double v) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(slot), "r"(__double2loint(v)),
               "r"(1), "r"(__double2hiint(v)), "r"(1)
               : "memory");
}
__device__ __forceinline__ void send(uint4* slot, std::uint32_t v) {
  asm volatile("st.volatile.global.v2.u32 [%0], {%1, %2};" ::"l"(slot), "r"(v), "r"(1) : "memory");
}
__device__ __forceinline__ void send(uint4* slot, float v) { send(slot, __float_as_uint(v)); }
template <class T>
__device__ __forceinline__ T take(uint4* slot) {
  for (unsigned polls = 0; polls < (1u << 22); ++polls) {
    uint4 got{};
    if constexpr (sizeof(T) == 8) {
      asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
                   : "l"(slot)
                   : "memory");
      if (got.y == 0 || got.w == 0) continue;
      *slot = uint4{};
      return __hiloint2double(static_cast<int>(got.z), static_cast<int>(got.x));
    } else {
      asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];"
                   : "=r"(got.x), "=r"(got.y)
                   : "l"(slot)
                   : "memory");
      if (got.y == 0) continue;
      *slot = uint4{};
      if constexpr (T(1) / T(2) == T(0)) return got.x;
      else return __uint_as_float(got.x);
    }
  }
  __trap();
  return T{0};
}
// Adds `mine` of the block's thread 0 and the slots from `first` to before `end`; the sum is returned in
// thread 0. All threads of the block call it.
template <class T>
__device__ __forceinline__ T sum_of_slots(T mine, uint4* slots, unsigned first, unsigned end) {
  T all = threadIdx.x == 0 ? mine : T{0};
  if (first >= end) return all;
  __syncthreads();
  for (unsigned i = first + threadIdx.x; i < end; i += blockDim.x) all += take<T>(slots + i);
  return sum_of_block(all);
}
template <class T>
__device__ __forceinline__ void join_inbox(const sum_arguments& given, T mine) {
  if constexpr (sizeof(T) == 4 && T(1) / T(2) == T(0)) {
    join_last(given, mine, blockIdx.x, gridDim.x);
  } else {
    auto* slots = at<uint4>(given.partials);
    if (blockIdx.x != 0) {
      if (threadIdx.x == 0) send(slots + blockIdx.x, mine);
      return;
    }
    const T all = sum_of_slots(mine, slots, 1, gridDim.x);
    if (threadIdx.x == 0) *at<T>(given.result) = all;
  }
}

#if __CUDA_ARCH__ >= 900
// The sum over the cluster's blocks, returned in its first block. All threads of the cluster call it.
template <class T>
__device__ __forceinline__ T sum_of_cluster(T mine) {
  namespace cg = cooperative_groups;
  __shared__ T of_blocks[cluster_blocks];
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  cluster.sync();  // a block may write into another only once that one has started
  if (threadIdx.x == 0) *cluster.map_shared_rank(&of_blocks[rank], 0) = mine;
  cluster.sync();
  if (rank != 0) return T{0};
  T all = 0;
  for (unsigned i = 0; i < blocks; ++i) all += of_blocks[i];
  return all;
}
#endif

}  // namespace device

}  // namespace mgsync::reduction
