// Sums by several GPUs with NVIDIA's multi-grid barrier inside. Compiled on its own by an nvcc older than 13
// (C++17, -rdc=true, device-linked with cudadevrt) into the cubin that several_gpus.cpp loads; no part of the
// program itself.
#include <cooperative_groups.h>

#include "src/studies/reduction/gpu_joining.cuh"
#include "src/studies/reduction/gpu_reading.cuh"

namespace {

using namespace mgsync::reduction;

template <class T>
__device__ void sum_with_multi_grid(const sum_arguments& given) {
  using namespace mgsync::reduction::device;
  auto grids = cooperative_groups::this_multi_grid();
  const T mine = sum_of_block(
      by_vectors<T, 4>::sum(at<const T>(const_cast<void*>(given.numbers)), given.count, given.in_chunks));
  if (threadIdx.x == 0) at<T>(given.partials)[grids.grid_rank() * gridDim.x + blockIdx.x] = mine;
  grids.sync();
  if (grids.grid_rank() != 0 || blockIdx.x != 0) return;
  const T all = sum_of_stored(at<T>(given.partials), std::size_t{grids.num_grids()} * gridDim.x);
  if (threadIdx.x == 0) *at<T>(given.result) = all;
}

}  // namespace

// What the loader compares with its own, so that a cubin of another version is refused.
extern "C" __device__ const unsigned mgsync_vendor_sum_abi = sizeof(mgsync::reduction::sum_arguments);

extern "C" __global__ void mgsync_vendor_sum_fp64(sum_arguments given) { sum_with_multi_grid<double>(given); }
extern "C" __global__ void mgsync_vendor_sum_fp32(sum_arguments given) { sum_with_multi_grid<float>(given); }
extern "C" __global__ void mgsync_vendor_sum_int32(sum_arguments given) {
  sum_with_multi_grid<std::uint32_t>(given);
}
