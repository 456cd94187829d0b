// The policy and the memory of the library's kernels: what the algorithms are written over there. Device code, C++17;
// a part of the public header mgsync/multi_grid.cuh.
#pragma once

#include <cstdint>

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/algorithm/cuda_words.hpp"

namespace mgsync::algorithm {

// In 2^20 ns, never 0.
__device__ __forceinline__ std::uint32_t multi_grid_time() { return static_cast<std::uint32_t>(ptx::global_time_ns() >> 20) | 1; }

// Called by the whole team now and then in a long wait that began at `since` (0: this is the first time): since when it
// lasts, or 0 to give it up, alike in all lanes. Who finds at the first look that others gave up came too late. Not
// inlined: inside the loop that polls, its registers and branches would cost every round 0.1 us, although it is hardly
// ever reached.
__device__ __noinline__ inline std::uint32_t look_up(multi_grid_block* mine, std::uint32_t since) {
  const bool others_did = *static_cast<volatile std::uint32_t*>(mine->abort) != 0;
  if (others_did && since == 0) mine->late = 1;
  const std::uint32_t now = multi_grid_time();
  if (since == 0) since = mine->begin != 0 ? mine->begin : now;
  const bool expired = now - since > mine->patience;
  if (expired && !others_did) atomicCAS_system(mine->abort, 0u, 1u);
  return __any_sync(0xffffffffu, others_did || expired) != 0 ? 0 : since;
}

// The policy of a user's kernel: blocks of any dimensions whose first warp is whole, system scope unless the GPU is
// alone, waits bounded one by one. What it needs only once a wait takes long stays in memory, not in registers.
class multi_grid_policy : public cuda_words<ptx::scope::system> {
  static constexpr unsigned team = 1, one_warp = 2, alone = 4, first = 8;
  static constexpr unsigned polls_per_look = 4096;

 public:
  __device__ __forceinline__ multi_grid_policy(multi_grid_block* mine, unsigned thread, unsigned threads, unsigned gpus)
      : mine_(mine), role_(kept((thread < lanes ? team : 0) | (threads == lanes ? one_warp : 0) | (gpus == 1 ? alone : 0) |
                                  (lane() == 0 ? first : 0))) {}

  __device__ __forceinline__ void sync() const {
    if (is(one_warp)) __syncwarp();
    else __syncthreads();
  }
  __device__ __forceinline__ bool sync_and(bool ok) const {
    if (!is(one_warp)) return __syncthreads_and(ok) != 0;
    __syncwarp();
    return ok;  // the team is the block, and agrees
  }
  __device__ __forceinline__ bool in_team() const { return is(team); }
  __device__ __forceinline__ bool leader() const { return is(first); }
  __device__ __forceinline__ void fence_release_system() const {
    if (is(alone)) ptx::fence_acq_rel<ptx::scope::gpu>();
    else ptx::fence_acq_rel<ptx::scope::system>();
  }

  template <class Condition>
  __device__ __forceinline__ bool wait_until(Condition holds) const {
    word since = 0;
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (holds()) return true;
      since = look_up(mine_, since);
      if (since == 0) return false;
    }
  }

 private:
  // Kept anew: else every bit of it is kept in a register of its own.
  __device__ __forceinline__ bool is(unsigned what) const { return (kept(role_) & what) != 0; }

  multi_grid_block* mine_;
  unsigned role_;
};

struct multi_grid_lines {
  const multi_grid_handle& handle;

  __device__ __forceinline__ std::uint32_t& word(unsigned gpu, unsigned line, unsigned offset) const {
    return handle.parts[gpu][line * (line_bytes / sizeof(std::uint32_t)) + offset];
  }
};

}  // namespace mgsync::algorithm
