// A barrier for all threads of the grids of several GPUs: what cooperative_groups::multi_grid_group was until CUDA 13.
//
//     __global__ void kernel(mgsync::multi_grid_handle handle, float* data) {
//       auto grids = mgsync::this_multi_grid(handle);
//       ...
//       grids.sync();
//     }
//
// Launched by mgsync::multi_grid (multi_grid.hpp), on every GPU cooperatively. C++17 and later, compute capability 7.0 to
// 10.0, no relocatable device code, nothing but the CUDA toolkit.
#pragma once

#if !defined(__CUDACC__)
#error "mgsync/multi_grid.cuh is device code: compile it with nvcc; host code includes mgsync/multi_grid.hpp"
#endif

#include <cstdint>
#include <new>

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"
#include "barriers/library/multi_grid_policy.hpp"

namespace mgsync {

// All threads of the grids that one launch of mgsync::multi_grid started, one grid per GPU, alike in dimensions.
//
// Made by every thread of every block; several objects in one kernel may follow one another but not interleave. It
// carries the block's count of barriers, so it cannot be copied: pass it on by reference.
//
// Memory ordering of sync(), and of barrier_arrive() with barrier_wait(): all that any thread of any GPU of the group
// wrote before it arrived, to the memory of any of these GPUs or to mapped host memory, with ordinary stores or atomics
// of any scope, is visible to ordinary loads of every thread of every GPU after it left; and whoever saw such a write in
// turn is covered too. No fence of the user's is needed. Not covered: loads through the read-only path (__ldg, pointers
// declared const __restrict__, textures) of data that changes while the kernel runs; the asynchronous proxy (bulk
// copies, TMA), which needs its own fence.proxy.async or wait before the barrier.
//
// Every wait is bounded by the owner's time-out. Once one was given up, sync() and barrier_wait() return false at once,
// in all threads of the block alike: the kernel should return, and multi_grid::wait() throws on the host, naming who did
// not arrive. What a barrier given up ordered is unknown.
class multi_grid_group {
 public:
  class arrival_token {
    friend class multi_grid_group;
    std::uint32_t epoch_ = 0;
  };

  __device__ __forceinline__ explicit multi_grid_group(const multi_grid_handle& handle)
      : multi_grid_group(handle, handle.rank, handle.records + block(), handle.bounds) {}
  multi_grid_group(const multi_grid_group&) = delete;  // two copies would count their barriers apart
  multi_grid_group& operator=(const multi_grid_group&) = delete;
  // Here, once per kernel, and not in every round: a release fence asks the home of all lines that the SM wrote since
  // the last, so one store more in a round costs it 0.1 us.
  __device__ __forceinline__ ~multi_grid_group() {
    if (!is_member() || thread() != 0) return;
    // Given up: of the last barrier that it came to in time.
    record_->epoch = is_valid() ? epoch_ : record_->looked_at - record_->late;
  }

  // The barrier. Called by all threads of all blocks of all GPUs. False: given up (see above), or not valid.
  __device__ __forceinline__ bool sync() {
    ++epoch_;
    policy_.sync();
    return leave([&](auto& algorithm) { return algorithm.meet(epoch_); });
  }

  // The barrier in two calls, for work that neither side of it depends on; each is called by all threads of all blocks,
  // and nothing of this group comes between them. The arrival waits for the threads of its own block only.
  __device__ __forceinline__ arrival_token barrier_arrive() {
    arrival_token token;
    ++epoch_;
    token.epoch_ = epoch_;
    if (state_ == multi_grid_handle::relay) relay_.arrive(epoch_);
    else if (state_ == multi_grid_handle::counter) counter_.arrive(epoch_);
    return token;
  }
  __device__ __forceinline__ bool barrier_wait(arrival_token token) {
    return leave([&](auto& algorithm) { return algorithm.await(token.epoch_); });
  }

  // Whether the kernel was launched with the handle of its GPU and its number of blocks, and no barrier was given up.
  __device__ __forceinline__ bool is_valid() const { return is_member() && state_ < given_up; }

  __device__ __forceinline__ unsigned num_grids() const { return gpus_; }
  __device__ __forceinline__ unsigned grid_rank() const { return rank_; }
  // Threads of all grids, and the caller's number among them: by grid, then block, then thread.
  __device__ __forceinline__ unsigned long long size() const {
    return static_cast<unsigned long long>(gpus_) * blocks() * threads();
  }
  __device__ __forceinline__ unsigned long long num_threads() const { return size(); }
  __device__ __forceinline__ unsigned long long thread_rank() const {
    return (static_cast<unsigned long long>(rank_) * blocks() + block()) * threads() + thread();
  }

 protected:
  // For kernels that learn their rank, and the caller's block's record, in another way than from the handle.
  __device__ __forceinline__ multi_grid_group(const multi_grid_handle& handle, unsigned rank, multi_grid_block* record,
                                              const multi_grid_bounds& bounds)
      : multi_grid_group(handle, policy_type(bounds, record, thread(), threads(), handle.gpus), {handle},
                         {rank, handle.gpus, block(), handle.blocks}, record) {}

 private:
  using lines_type = const algorithm::multi_grid_lines;
  using policy_type = algorithm::multi_grid_policy;
  static constexpr std::uint32_t given_up = policy_type::given_up;

  // The team's part of a barrier, 0 from which is given up; all threads of the block leave with its verdict. Few
  // instructions: every warp comes here in every round.
  template <class TeamPart>
  __device__ __forceinline__ bool leave(TeamPart part) {
    std::uint32_t verdict = 0;
    if (policy_.in_team()) {
      bool ok = false;
      if (state_ == multi_grid_handle::relay) ok = part(relay_);
      else if (state_ == multi_grid_handle::counter) ok = part(counter_);
      verdict = ok ? 0 : given_up;
    }
    verdict = policy_.sync_verdict(verdict);
    state_ |= verdict;
    return verdict == 0;
  }
  __device__ __forceinline__ bool is_member() const { return (state_ & ~given_up) != multi_grid_handle::none; }

  __device__ __forceinline__ static unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ __forceinline__ static unsigned thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  __device__ __forceinline__ static unsigned blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  __device__ __forceinline__ static unsigned block() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }

  __device__ __forceinline__ multi_grid_group(const multi_grid_handle& handle, const policy_type& policy,
                                              const algorithm::multi_grid_lines& lines, const algorithm::place& at,
                                              multi_grid_block* record)
      : policy_(policy), state_(policy_type::kept(handle.blocks == blocks() ? handle.algorithm : multi_grid_handle::none)),
        record_(record), rank_(at.member), gpus_(handle.gpus) {
    if (state_ == multi_grid_handle::counter) new (&counter_) counter_type(policy, lines, at, shape_of_counter(handle));
    else if (state_ == multi_grid_handle::relay) new (&relay_) relay_type(policy, lines, at, shape_of_relay(handle));
    if (!is_member()) return;
    __syncthreads();  // behind the destructor of a group before
    epoch_ = algorithm::ptx::load_relaxed<algorithm::ptx::scope::gpu>(&record->epoch);
  }
  __device__ __forceinline__ static algorithm::relay_shape shape_of_relay(const multi_grid_handle& handle) {
    const bool mine = handle.algorithm == multi_grid_handle::relay;
    return {mine ? handle.counters : 1, mine ? handle.copies : 1};
  }
  __device__ __forceinline__ static algorithm::spread_shape shape_of_counter(const multi_grid_handle& handle) {
    const bool mine = handle.algorithm == multi_grid_handle::counter;
    return {mine ? handle.counters : 1, mine ? handle.copies : 1, handle.hold};
  }

  // One of the two; a kernel keeps few enough registers for 2048 threads per SM.
  using relay_type = algorithm::relay<policy_type, lines_type>;
  using counter_type = algorithm::spread_counter<policy_type, lines_type>;
  union {
    relay_type relay_;
    counter_type counter_;
  };
  policy_type policy_;
  std::uint32_t state_;  // the handle's algorithm, and given_up
  std::uint32_t epoch_ = 0;
  multi_grid_block* record_;
  std::uint32_t rank_;
  std::uint32_t gpus_;
};

// The group of the calling kernel's launch, from the handle that the kernel was passed. Called by every thread.
__device__ __forceinline__ multi_grid_group this_multi_grid(const multi_grid_handle& handle) {
  return multi_grid_group(handle);
}

}  // namespace mgsync
