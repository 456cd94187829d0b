// The barrier of multi_grid.cuh over the GPUs of several nodes. A kernel that takes the other handle has it
// by the same calls:
//
//     __global__ void kernel(const __grid_constant__ mgsync::multi_grid_node_handle handle, float* data) {
//       auto grids = mgsync::this_multi_grid(handle);
//       ...
//       grids.sync();
//     }
//
// Launched by mgsync::multi_grid_nodes (multi_grid_nodes.hpp). Execution is ordered over all nodes, memory
// inside each node as by multi_grid.cuh, and between nodes only what multi_grid_nodes::carry() names. The
// block that speaks for its GPU tells a word of host memory, and polls the answer with one warp; the others
// wait as inside a node. barrier_arrive() waits for the other nodes in that one block. There are
// no sync<order::none>(), sync<order::acquire>(), sync_mixed(), sync_reduce() and sync_ballot() between
// nodes: they do not compile.
#pragma once

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid_node_handle.hpp>

#include "barriers/library/multi_grid_node_policy.hpp"

namespace mgsync { inline namespace v1 {

// As multi_grid_group; grids and threads are counted over all nodes.
class multi_grid_group_over_nodes : public multi_grid_group_over<algorithm::multi_grid_policy_over_nodes> {
  using of_node = multi_grid_group_over<algorithm::multi_grid_policy_over_nodes>;

 public:
  __device__ __forceinline__ explicit multi_grid_group_over_nodes(const multi_grid_node_handle& handle)
      : of_node(handle.node), handle_(handle) {}

  __device__ __forceinline__ unsigned num_grids() const { return handle_.all_grids; }
  __device__ __forceinline__ unsigned grid_rank() const { return handle_.first_grid + handle_.node.rank; }
  __device__ __forceinline__ unsigned long long size() const {
    return of_node::size() / handle_.node.gpus * handle_.all_grids;
  }
  __device__ __forceinline__ unsigned long long num_threads() const { return size(); }
  __device__ __forceinline__ unsigned long long thread_rank() const {
    return of_node::thread_rank() + of_node::size() / handle_.node.gpus * handle_.first_grid;
  }

  // Values would be those of the node.
  template <class T, class Op>
  void sync_reduce(T, Op) = delete;
  void sync_ballot(bool) = delete;

 private:
  const multi_grid_node_handle& handle_;
};

__device__ __forceinline__ multi_grid_group_over_nodes this_multi_grid(const multi_grid_node_handle& handle) {
  return multi_grid_group_over_nodes(handle);
}
__device__ multi_grid_group_over_nodes this_multi_grid(const multi_grid_node_handle&&) = delete;

}}  // namespace mgsync::v1
