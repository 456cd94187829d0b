// A group of up to 96 GPUs, more than a warp has lanes.
//
//     __global__ void kernel(const __grid_constant__ mgsync::multi_grid_handle handle, float* data) {
//       auto grids = mgsync::this_multi_grid_of_many(handle);  // in place of this_multi_grid(handle)
//
// It has the calls of multi_grid.cuh, for groups of any size. A kernel without it that is passed the handle
// of more than 16 GPUs runs without the barrier: its is_valid() and every sync() are false. Shown by slices
// of one GPU's blocks that stand for GPUs, and not yet run on more than 4. sync_reduce() and sync_ballot()
// are for groups of up to 16, by the other header.
#pragma once

#include <mgsync/multi_grid.cuh>

#include "barriers/library/many_gpus_policy.hpp"

namespace mgsync { inline namespace v1 {

class multi_grid_group_of_many
    : public multi_grid_group_over<algorithm::many_gpus_policy<algorithm::multi_grid_policy>> {
 public:
  using multi_grid_group_over::multi_grid_group_over;
};

// The group of the calling kernel's launch. Called by every thread.
__device__ __forceinline__ multi_grid_group_of_many this_multi_grid_of_many(const multi_grid_handle& handle) {
  return multi_grid_group_of_many(handle);
}
__device__ multi_grid_group_of_many this_multi_grid_of_many(const multi_grid_handle&&) = delete;

}}  // namespace mgsync::v1
