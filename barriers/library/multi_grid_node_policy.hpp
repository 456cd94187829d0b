// The policy of kernels over nodes: what the block that speaks for its GPU does between the nodes. Device
// code, C++17; a part of the public header mgsync/multi_grid_nodes.cuh.
#pragma once

#include <cstddef>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid_node_handle.hpp>

namespace mgsync { inline namespace v1 { namespace algorithm {

static_assert(offsetof(multi_grid_node_handle, node) == 0);
class multi_grid_policy_over_nodes : public multi_grid_policy {
 public:
  __device__ __forceinline__ multi_grid_policy_over_nodes(std::uint32_t state,
                                                          const multi_grid_handle& handle)
      : multi_grid_policy(state, handle), nodes_(reinterpret_cast<const multi_grid_node_handle&>(handle)) {}

  // Called by the team of the block that speaks for its GPU, before it tells the other GPUs of the node: they
  // leave once all GPUs have spoken, and so once all nodes have come.
  __device__ __forceinline__ void fence_release_system() {
    ptx::fence_release<ptx::scope::system>();
    word epoch = 0;
    if (is_first_of_team()) {
      epoch = *static_cast<volatile word*>(nodes_.spoken) + 1;
      *static_cast<volatile word*>(nodes_.spoken) = epoch;
      ptx::store_relaxed<ptx::scope::system>(nodes_.come, epoch);
    }
    epoch = broadcast(epoch);
    passed_ = await_other_nodes(epoch);
    sync_team();  // a vote orders nothing
  }
  __device__ __forceinline__ void store_fenced_system(word& w, word v) const {
    if (passed_ != 0) ptx::store_relaxed<ptx::scope::system>(&w, v);
  }
  void add_fenced_system(word& w, word v) const = delete;

 private:
  __device__ __forceinline__ static bool is_first_of_team() {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane == 0;
  }
  __device__ unsigned await_other_nodes(word epoch) const {
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (any(reached(ptx::load_acquire<ptx::scope::system>(nodes_.let_go), epoch))) return 1;
      if (ends_waiting(epoch)) return 0;
    }
  }

  const multi_grid_node_handle& nodes_;
  unsigned passed_ = 1;  // 0: this block does not speak
};

}}}  // namespace mgsync::v1::algorithm
