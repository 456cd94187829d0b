// The kernels that add up numbers of one type; a source file per type instantiates them.
#pragma once

#include <cstddef>

#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "src/studies/reduction/gpu_joining.cuh"
#include "src/studies/reduction/gpu_reading.cuh"

namespace mgsync::reduction {

template <class T, template <class, unsigned> class Reading, unsigned Depth, joining Join>
__global__ void sum(const sum_arguments given) {
  using namespace device;
#if __CUDA_ARCH__ >= 900
  if constexpr (Join == joining::dependent || Join == joining::inbox)
    asm volatile("griddepcontrol.launch_dependents;");
  if constexpr (Join == joining::inbox) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  T mine = sum_of_block(
      Reading<T, Depth>::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
  if constexpr (Join == joining::none || Join == joining::dependent) {
    if (threadIdx.x == 0) at<T>(given.partials)[blockIdx.x] = mine;
  } else if constexpr (Join == joining::last) {
    join_last(given, mine, blockIdx.x, gridDim.x);
  } else if constexpr (Join == joining::inbox) {
    join_inbox(given, mine);
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

// Each block stores its sum, all blocks pass one of this project's barriers, and one block adds the sums up;
// on one GPU or several.
template <class T, class Reading, class Pass, class Meeting>
__global__ void sum_with_barrier(const sum_arguments given, const __grid_constant__ Meeting meeting) {
  using namespace device;
  using arguments = typename Pass::arguments;
  static_assert(offsetof(Meeting, shape) == offsetof(arguments, shape) &&
                sizeof(algorithm::cuda_lines) == sizeof(meeting.parts));
  Pass pass(reinterpret_cast<const arguments&>(meeting),
            meeting.run);  // used in place: a copy would lie in local memory
  const T mine =
      sum_of_block(Reading::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
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

// No barrier: the last block over all GPUs to arrive at a counter adds up, whichever GPU it is on.
template <class T, class Reading>
__global__ void sum_of_several(const sum_arguments given, const __grid_constant__ relay_arguments meeting) {
  using namespace device;
  const T mine =
      sum_of_block(Reading::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
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

// No barrier: each GPU's block 0 adds what its other blocks and the GPUs below it in the tree send, and sends
// the sum on to its parent; the root stores it. Each value travels with a flag beside it.
template <class T, class Reading>
__global__ void sum_gathered(const sum_arguments given, const __grid_constant__ gather_arguments tree) {
  using namespace device;
  const T mine =
      sum_of_block(Reading::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
  auto* slots = at<uint4>(given.partials);
  if (blockIdx.x != 0) {
    if (threadIdx.x == 0) send(slots + blockIdx.x, mine);
    return;
  }
  const T of_gpu = sum_of_slots(mine, slots, 1, gridDim.x),
          all = sum_of_slots(of_gpu, static_cast<uint4*>(tree.from), 0, tree.children);
  if (threadIdx.x != 0) return;
  if (tree.to == nullptr) *at<T>(given.result) = all;
  else send(static_cast<uint4*>(tree.to), all);
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

// The loops that only_to_read() chooses from, so that every way of joining stands behind the loop that reads
// best.
template <class T, joining Join>
const void* kernel_by_best_loads(loads how) {
  switch (how) {
  case loads::vector1: return address_of(sum<T, by_vectors, 1, Join>);
  case loads::vector2: return address_of(sum<T, by_vectors, 2, Join>);
  case loads::vector4: return address_of(sum<T, by_vectors, 4, Join>);
  case loads::bulk4: return address_of(sum<T, by_bulk, 4, Join>);
  default: return nullptr;
  }
}
template <class T, class Pass, class Meeting>
const void* barrier_by_best_loads(loads how) {
  switch (how) {
  case loads::vector1: return address_of(sum_with_barrier<T, by_vectors<T, 1>, Pass, Meeting>);
  case loads::vector2: return address_of(sum_with_barrier<T, by_vectors<T, 2>, Pass, Meeting>);
  case loads::vector4: return address_of(sum_with_barrier<T, by_vectors<T, 4>, Pass, Meeting>);
  case loads::bulk4: return address_of(sum_with_barrier<T, by_bulk<T, 4>, Pass, Meeting>);
  default: return nullptr;
  }
}

template <class T>
const void* kernel_of(loads how, joining join) {
  using algorithm::ptx::scope;
  using vectors = by_vectors<T, 4>;
  using bulk = by_bulk<T, 4>;
  using several = round_loop::relay_pass<scope::system>;
  if (join == joining::none) return kernel_by_loads<T, joining::none>(how);
  if (join == joining::last) return kernel_by_loads<T, joining::last>(how);
  if (join == joining::inbox) return kernel_by_loads<T, joining::inbox>(how);
  if (join == joining::grid_sync) return kernel_by_best_loads<T, joining::grid_sync>(how);
  if (join == joining::cluster) return kernel_by_best_loads<T, joining::cluster>(how);
  if (join == joining::dependent) return kernel_by_best_loads<T, joining::dependent>(how);
  if (join == joining::counter)
    return barrier_by_best_loads<T, round_loop::spread_counter_pass, counter_arguments>(how);
  if (join == joining::relay)
    return barrier_by_best_loads<T, round_loop::relay_pass<scope::gpu>, relay_arguments>(how);
  if (how == loads::bulk4 && join == joining::several)
    return address_of(sum_with_barrier<T, bulk, several, relay_arguments>);
  if (how == loads::bulk4 && join == joining::last_of_several) return address_of(sum_of_several<T, bulk>);
  if (how == loads::bulk4 && join == joining::gathered) return address_of(sum_gathered<T, bulk>);
  if (how != loads::vector4) return nullptr;
  switch (join) {
  case joining::last_of_several: return address_of(sum_of_several<T, vectors>);
  case joining::gathered: return address_of(sum_gathered<T, vectors>);
  case joining::several: return address_of(sum_with_barrier<T, vectors, several, relay_arguments>);
  default: return nullptr;
  }
}

}  // namespace mgsync::reduction
