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
  __device__ __forceinline__ explicit multi_grid_group_traced(const multi_grid_handle& handle)
      : multi_grid_group_over(handle), told_of_(handle) {}
  __device__ __forceinline__ ~multi_grid_group_traced() {
    using policy = algorithm::traced_policy<algorithm::multi_grid_policy>;
    if (policy::block() == 0 && policy::thread() == 0 && is_valid()) policy(0, told_of_).tell();
  }

 private:
  const multi_grid_handle& told_of_;
};

// The traced group of the calling kernel's launch. Called by every thread.
__device__ __forceinline__ multi_grid_group_traced this_traced_multi_grid(const multi_grid_handle& handle) {
  return multi_grid_group_traced(handle);
}
__device__ multi_grid_group_traced this_traced_multi_grid(const multi_grid_handle&&) = delete;

}}  // namespace mgsync::v1
