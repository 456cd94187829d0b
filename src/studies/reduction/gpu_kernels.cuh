// The kernels of sums of one type; each type is compiled by itself.
#pragma once

#include <cstddef>

#include <cooperative_groups.h>

#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "src/studies/reduction/gpu_reading.cuh"

namespace mgsync::reduction {

namespace device {

// Of what other blocks stored: past the first-level cache, in the first warp's lane 0.
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

// Whether the calling block is the last of `blocks` to come, in all its threads. What the others stored before is visible.
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

// The last block by a counter adds up. Whole numbers of 32 bits travel in the counter itself: one atomic is all.
template <class T>
__device__ __forceinline__ void join_last(const sum_arguments& given, T mine, unsigned block, unsigned blocks) {
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

#if __CUDA_ARCH__ >= 900
// Of the cluster, in its first block.
template <class T>
__device__ __forceinline__ T sum_of_cluster(T mine) {
  namespace cg = cooperative_groups;
  __shared__ T of_blocks[cluster_blocks];
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  cluster.sync();  // nobody writes into a block that has not begun
  if (threadIdx.x == 0) *cluster.map_shared_rank(&of_blocks[rank], 0) = mine;
  cluster.sync();
  if (rank != 0) return T{0};
  T all = 0;
  for (unsigned i = 0; i < blocks; ++i) all += of_blocks[i];
  return all;
}
#endif

}  // namespace device

template <class T, template <class, unsigned> class Reading, unsigned Depth, joining Join>
__global__ void sum(const sum_arguments given) {
  using namespace device;
#if __CUDA_ARCH__ >= 900
  if constexpr (Join == joining::dependent) asm volatile("griddepcontrol.launch_dependents;");
#endif
  T mine = sum_of_block(Reading<T, Depth>::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
  if constexpr (Join == joining::none || Join == joining::dependent) {
    if (threadIdx.x == 0) at<T>(given.partials)[blockIdx.x] = mine;
  } else if constexpr (Join == joining::last) {
    join_last(given, mine, blockIdx.x, gridDim.x);
  } else if constexpr (Join == joining::cluster) {
#if __CUDA_ARCH__ >= 900
    mine = sum_of_cluster(mine);
    if (cooperative_groups::this_cluster().block_rank() == 0)
      join_last(given, mine, blockIdx.x / cluster_blocks, gridDim.x / cluster_blocks);
#endif
  } else if constexpr (Join == joining::grid_sync) {
    if (threadIdx.x == 0) at<T>(given.partials)[blockIdx.x] = mine;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x != 0) return;
    const T all = sum_of_stored(at<T>(given.partials), gridDim.x);
    if (threadIdx.x == 0) *at<T>(given.result) = all;
  }
}

// One barrier of this project between the blocks' sums and the sum of these, on one GPU or several.
template <class T, class Pass, class Meeting>
__global__ void sum_with_barrier(const sum_arguments given, const __grid_constant__ Meeting meeting) {
  using namespace device;
  using arguments = typename Pass::arguments;
  static_assert(offsetof(Meeting, shape) == offsetof(arguments, shape) && sizeof(algorithm::cuda_lines) == sizeof(meeting.parts));
  Pass pass(reinterpret_cast<const arguments&>(meeting), meeting.run);  // where they are: copied, they would lie in local memory
  const T mine = sum_of_block(by_vectors<T, 4>::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
  if (threadIdx.x == 0) at<T>(given.partials)[meeting.run.member * gridDim.x + blockIdx.x] = mine;
  if (!pass(meeting.run.epoch)) return;
  if (meeting.run.member != 0 || blockIdx.x != 0) return;
  const T all = sum_of_stored(at<T>(given.partials), std::size_t{meeting.run.members} * gridDim.x);
  if (threadIdx.x == 0) *at<T>(given.result) = all;
}

template <class T, bool Dependent>
__global__ void join(const void* partials, std::size_t count, void* result) {
#if __CUDA_ARCH__ >= 900
  if constexpr (Dependent) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const T all = device::sum_of_stored(static_cast<const T*>(partials), count);
  if (threadIdx.x == 0) *static_cast<T*>(result) = all;
}

// No barrier: the last block of all GPUs adds up, whichever GPU it is on.
template <class T>
__global__ void sum_of_several(const sum_arguments given, const __grid_constant__ relay_arguments meeting) {
  using namespace device;
  const T mine = sum_of_block(by_vectors<T, 4>::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
  const unsigned blocks = gridDim.x * meeting.run.members;
  __shared__ bool last;
  if (threadIdx.x == 0) {
    at<T>(given.partials)[meeting.run.member * gridDim.x + blockIdx.x] = mine;
    __threadfence_system();
    last = atomicAdd_system(given.arrived, 1ull) + 1 == blocks;
    __threadfence_system();
  }
  __syncthreads();
  if (!last) return;
  const T all = sum_of_stored(at<T>(given.partials), blocks);
  if (threadIdx.x == 0) *at<T>(given.result) = all;
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

template <class T, joining Join>
const void* kernel_by_loads(loads how) {
  switch (how) {
    case loads::word1: return address_of(sum<T, by_words, 1, Join>);
    case loads::vector1: return address_of(sum<T, by_vectors, 1, Join>);
    case loads::vector2: return address_of(sum<T, by_vectors, 2, Join>);
    case loads::vector4: return address_of(sum<T, by_vectors, 4, Join>);
    case loads::vector8: return address_of(sum<T, by_vectors, 8, Join>);
    case loads::bulk4: return address_of(sum<T, by_bulk, 4, Join>);
    case loads::bulk8: return address_of(sum<T, by_bulk, 8, Join>);
  }
  return nullptr;
}

template <class T>
const void* kernel_of(loads how, joining join) {
  using algorithm::ptx::scope;
  if (join == joining::none) return kernel_by_loads<T, joining::none>(how);
  if (join == joining::last) return kernel_by_loads<T, joining::last>(how);
  if (how != loads::vector4) return nullptr;
  switch (join) {
    case joining::grid_sync: return address_of(sum<T, by_vectors, 4, joining::grid_sync>);
    case joining::cluster: return address_of(sum<T, by_vectors, 4, joining::cluster>);
    case joining::dependent: return address_of(sum<T, by_vectors, 4, joining::dependent>);
    case joining::counter: return address_of(sum_with_barrier<T, round_loop::spread_counter_pass, counter_arguments>);
    case joining::relay: return address_of(sum_with_barrier<T, round_loop::relay_pass<scope::gpu>, relay_arguments>);
    case joining::last_of_several: return address_of(sum_of_several<T>);
    case joining::several: return address_of(sum_with_barrier<T, round_loop::relay_pass<scope::system>, relay_arguments>);
    default: return nullptr;
  }
}

}  // namespace mgsync::reduction
