// The policy of the library's kernels: what the algorithms are written over there. Device code, C++17;
// a part of the public header mgsync/multi_grid.cuh.
#pragma once

#include <cstdint>

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/library/multi_grid_words.hpp"
#include "barriers/parts/algorithm/cuda_words.hpp"

namespace mgsync::algorithm {

// Tells the host of this process, by the first block of this GPU that has something to tell, and the kernels of all processes.
__device__ inline void report_and_stop(multi_grid_block* records, multi_grid_block& mine, std::uint32_t what, std::uint32_t launched) {
  // A kernel before may have written it, of another grid and so with other records.
  if (mine.report != nullptr && *static_cast<volatile std::uint32_t*>(&mine.report->what) == multi_grid_report::none &&
      atomicCAS(&records[0].claimed, 0u, 1u) == 0) {
    mine.report->rank = mine.rank;
    mine.report->launched = launched;
    mine.report->made_for = mine.blocks;
    *static_cast<volatile std::uint32_t*>(&mine.report->what) = what;
  }
  *static_cast<volatile std::uint32_t*>(mine.told) = 1;
  for (unsigned m = 0; m < mine.stop_count; ++m) *static_cast<volatile std::uint32_t*>(mine.stops[m]) = 1;
}

// The policy of a user's kernel: blocks of any dimensions whose first warp is whole, system scope unless the GPU is
// alone, waits bounded one by one.
class multi_grid_policy : public cuda_words<ptx::scope::system> {
  using words = cuda_words<ptx::scope::system>;
  static constexpr unsigned polls_per_look = 4096;

 public:
  __device__ __forceinline__ multi_grid_policy(std::uint32_t state, multi_grid_block* records) : state_(state), records_(records) {}

  __device__ __forceinline__ std::uint32_t state() const { return state_; }
  __device__ __forceinline__ bool leader() const { return (state_ & multi_grid_state::leader) != 0; }

  __device__ __forceinline__ void sync() const {
    if ((state_ & multi_grid_state::one_warp) != 0) __syncwarp();
    else __syncthreads();
  }
  // Whether the block's team gave up, in all threads of the block.
  __device__ __forceinline__ bool sync_verdict(bool gave_up) const {
    if ((state_ & multi_grid_state::one_warp) == 0) return __syncthreads_or(gave_up) != 0;
    __syncwarp();
    return gave_up;  // the team is the block, and agrees
  }
  __device__ __forceinline__ bool in_team() const { return (state_ & multi_grid_state::in_team) != 0; }
  __device__ __forceinline__ void fence_release_system() const {
    if ((state_ & multi_grid_state::alone) != 0) ptx::fence_release<ptx::scope::gpu>();
    else ptx::fence_release<ptx::scope::system>();
  }

  // 0: given up. A variable that outlived a turn of the outer loop would make every poll gather the warp anew, so what is
  // kept of a long wait lies in the block's record.
  template <polling Loop, unsigned N, class Words>
  __device__ __forceinline__ unsigned wait_words(word epoch, Words lane_words) const {
    const polled_word<word> w = lane_words(0);
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (words::template all_reached<Loop, N>([&](unsigned) { return w; })) return 1;
      if (gives_up(records_[block()], epoch)) return 0;
    }
  }

  __device__ __forceinline__ static unsigned block() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }

 private:
  // The look of a long wait; the first one starts its clock. What the first lane sees and decides, the team does: all lanes
  // go the same way, and write the same.
  __device__ __forceinline__ bool gives_up(multi_grid_block& mine, word epoch) const {
    const word told = *static_cast<volatile word*>(mine.told) |
                      (mine.stop_count == 0 ? 0 : *static_cast<volatile word*>(mine.stops[0]));
    const word others_did = broadcast(told != 0 ? 1u : 0u);
    const word now = broadcast(static_cast<word>(ptx::global_time_ns() >> 20));
    if (broadcast(mine.looked_at) != epoch) {
      mine.looked_at = epoch;
      mine.since = now;
      mine.late = others_did;
    }
    const bool over = others_did != 0 || now - mine.since > mine.patience;
    if (broadcast(over ? 1u : 0u) == 0) return false;
    report_and_stop(records_, mine, others_did != 0 ? multi_grid_report::followed : multi_grid_report::timed_out, mine.blocks);
    return true;
  }

  std::uint32_t state_;
  multi_grid_block* records_;
};

}  // namespace mgsync::algorithm
