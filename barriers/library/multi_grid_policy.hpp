// The policy and the memory of the library's kernels: what the algorithms are written over there. Device code, C++17;
// a part of the public header mgsync/multi_grid.cuh.
#pragma once

#include <cstdint>

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/parts/algorithm/cuda_words.hpp"

namespace mgsync::algorithm {

// The policy of a user's kernel: blocks of any dimensions whose first warp is whole, system scope unless the GPU is
// alone, waits bounded one by one. What a wait needs only once it takes long comes from the kernel's parameters, which
// cost no registers.
class multi_grid_policy : public cuda_words<ptx::scope::system> {
  static constexpr unsigned polls_per_look = 4096;

 public:
  static constexpr word given_up = 4;  // beside the algorithms of a handle

  __device__ __forceinline__ multi_grid_policy(const multi_grid_bounds& bounds, multi_grid_block* mine, unsigned thread,
                                               unsigned threads, unsigned gpus)
      : bounds_(bounds), mine_(mine), alone_(kept(gpus == 1)), in_team_(kept(thread < lanes)),
        one_warp_(kept(threads == lanes)) {}

  __device__ __forceinline__ void sync() const {
    if (one_warp_ != 0) __syncwarp();
    else __syncthreads();
  }
  // The verdict of the block's team (0, or given_up) in all threads of the block.
  __device__ __forceinline__ word sync_verdict(word verdict) const {
    if (one_warp_ == 0) return __syncthreads_or(verdict) != 0 ? given_up : 0;
    __syncwarp();
    return verdict;  // the team is the block, and agrees
  }
  __device__ __forceinline__ bool in_team() const { return in_team_ != 0; }
  __device__ __forceinline__ void fence_release_system() const {
    if (alone_ != 0) ptx::fence_acq_rel<ptx::scope::gpu>();
    else ptx::fence_acq_rel<ptx::scope::system>();
  }

  // 0: given up. A variable that outlived a turn of the outer loop would make every poll gather the warp anew, so what is
  // kept of a long wait lies in the block's record.
  template <class Condition>
  __device__ __forceinline__ unsigned wait_until(word epoch, Condition holds) const {
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (holds()) return 1;
      const bool others_did = *static_cast<volatile word*>(bounds_.abort) != 0;
      const auto now = static_cast<word>(ptx::global_time_ns() >> 20);
      if (mine_->looked_at != epoch) {
        mine_->looked_at = epoch;
        mine_->since = now;
        mine_->late = others_did;
      }
      if (others_did) return 0;
      if (now - mine_->since > bounds_.patience) break;
    }
    atomicCAS_system(bounds_.abort, 0u, 1u);
    return 0;
  }

 private:
  multi_grid_bounds bounds_;
  multi_grid_block* mine_;
  unsigned alone_;
  unsigned in_team_;
  unsigned one_warp_;
};

struct multi_grid_lines {
  const multi_grid_handle& handle;

  __device__ __forceinline__ std::uint32_t& word(unsigned gpu, unsigned line, unsigned offset) const {
    return handle.parts[gpu][line * (line_bytes / sizeof(std::uint32_t)) + offset];
  }
};

}  // namespace mgsync::algorithm
