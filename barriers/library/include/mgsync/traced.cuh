// A group that tells who comes last to its barriers, and who waits for whom when one hangs.
//
//     __global__ void kernel(const __grid_constant__ mgsync::multi_grid_handle handle, float* data) {
//       auto grids = mgsync::this_traced_multi_grid(handle);  // in place of this_multi_grid(handle)
//
// The host makes its group with group_options::trace. Then multi_grid::lateness() says how often each GPU
// came last and by how much, multi_grid::last_rounds() who did in each of the last rounds, and `mgsync who`,
// in another process, names the node, process, GPU and blocks that a waiting job waits for. Times are
// differences on one GPU's own clock, which steps by 32 ns on Hopper: no clocks are compared. Kernels with
// other groups have no code of this.
#pragma once

#include <mgsync/multi_grid.cuh>

#include "barriers/library/traced_policy.hpp"

namespace mgsync { inline namespace v1 {

class multi_grid_group_traced
    : public multi_grid_group_over<algorithm::traced_policy<algorithm::multi_grid_policy>> {
 public:
  using multi_grid_group_over::multi_grid_group_over;
};

// The same, some ns faster for blocks of several warps, with a word of the block's shared memory, which
// nothing else may use while the object lives.
class multi_grid_group_traced_with_word
    : public multi_grid_group_over<algorithm::traced_policy<algorithm::multi_grid_policy_with_word>> {
 public:
  using multi_grid_group_over::multi_grid_group_over;
};

// The traced group of the calling kernel's launch. Called by every thread.
__device__ __forceinline__ multi_grid_group_traced this_traced_multi_grid(const multi_grid_handle& handle) {
  return multi_grid_group_traced(handle);
}
__device__ __forceinline__ multi_grid_group_traced_with_word
this_traced_multi_grid(const multi_grid_handle& handle, std::uint32_t& shared_word) {
  return multi_grid_group_traced_with_word(handle, shared_word);
}
__device__ multi_grid_group_traced this_traced_multi_grid(const multi_grid_handle&&) = delete;
__device__ multi_grid_group_traced_with_word this_traced_multi_grid(const multi_grid_handle&&,
                                                                    std::uint32_t&) = delete;

}}  // namespace mgsync::v1
