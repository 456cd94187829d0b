// The policy of GPU members: the team is the first warp of a block, local scope is the GPU, system scope is
// the system, or the GPU again where a member has no peer. C++17; blocks are one-dimensional and of whole
// warps. Every wait is bounded: after `polls_per_look` polls the team looks at the abort word and at the
// clock.
#pragma once

#include <cstdint>

#include "barriers/parts/algorithm/cuda_operations.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// What bounds every wait of a launch. `abort` lies in host memory that all GPUs see: 0 go on, else why not.
struct cuda_limits {
  static constexpr std::uint32_t timed_out = 1;
  static constexpr std::uint32_t interrupted = 2;

  std::uint32_t* abort = nullptr;
  std::uint64_t budget_ns = 0;  // from the start of the kernel
};

template <ptx::scope Widest>
class cuda_policy : public cuda_operations<Widest> {
  using operations = cuda_operations<Widest>;
  static constexpr ptx::scope local = ptx::scope::gpu;

 public:
  using word = typename operations::word;
  using pair = typename operations::pair;
  using operations::lanes;
  static constexpr unsigned polls_per_look = 4096;

  __device__ __forceinline__ explicit cuda_policy(const cuda_limits& limits)
      : abort_(limits.abort),
        deadline_ns_(ptx::global_time_ns() + limits.budget_ns),
        one_warp_(operations::kept(blockDim.x == lanes)),
        in_team_(operations::kept(threadIdx.x < lanes)) {}

  __device__ __forceinline__ void sync() const {
    if (one_warp_ != 0) __syncwarp();
    else __syncthreads();
  }
  __device__ __forceinline__ unsigned sync_and(unsigned ok) const {
    if (one_warp_ == 0) return __syncthreads_and(ok);
    __syncwarp();
    return ok;  // the team is the whole block, and its lanes already agree
  }
  __device__ __forceinline__ bool in_team() const { return in_team_ != 0; }

  __device__ __forceinline__ bool wait_local(word& w, word epoch) const {
    return spin([&] { return reached(ptx::load_acquire<local>(&w), epoch); });
  }
  __device__ __forceinline__ bool wait_system(word& w, word epoch) const {
    return spin([&] { return reached(ptx::load_acquire<Widest>(&w), epoch); });
  }
  __device__ __forceinline__ bool wait_pair_local(pair& w, word epoch, pair& seen) const {
    return wait_pair<local>(w, epoch, seen);
  }
  __device__ __forceinline__ bool wait_pair_system(pair& w, word epoch, pair& seen) const {
    return wait_pair<Widest>(w, epoch, seen);
  }

  // Waits until every lane's words are reached; returns 0 if given up. A warp that polls together and votes
  // is faster than one lane that polls while the others wait (0.1 us on Hopper).
  template <polling Loop, unsigned N, class Words>
  __device__ __forceinline__ unsigned wait_words(word, Words lane_words) const {
    return spin([&] { return operations::template all_reached<Loop, N>(lane_words); });
  }
  // Waits until holds() is true, each lane by itself; false: given up.
  template <class Condition>
  __device__ __forceinline__ bool wait_lane(Condition holds) const {
    return spin(holds) != 0;
  }
  // Waits until holds() is true, which must have the same value in all lanes of the team; returns 0 if given
  // up.
  template <class Condition>
  __device__ __forceinline__ unsigned wait_until(word, Condition holds) const {
    return spin(holds);
  }

 private:
  template <ptx::scope S>
  __device__ __forceinline__ bool wait_pair(pair& w, word epoch, pair& seen) const {
    pair last = 0;
    const bool ok = spin([&] {
      last = ptx::load_acquire<S>(&w);
      return reached(static_cast<word>(last), epoch);
    });
    seen = last;
    return ok;
  }

  // The only spin loop. It takes no local variable's address, because a store to the stack before a fence
  // costs 0.2 us.
  template <class Condition>
  __device__ __forceinline__ unsigned spin(Condition holds) const {
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (holds()) return 1;
      if (*static_cast<volatile word*>(abort_) != 0) return 0;
      if (ptx::global_time_ns() > deadline_ns_) break;
    }
    // No compare-and-swap, since on host memory it need not be atomic between GPUs. At worst a reason that
    // the host wrote in the meantime is lost.
    if (*static_cast<volatile word*>(abort_) == 0)
      *static_cast<volatile word*>(abort_) = cuda_limits::timed_out;
    return 0;
  }

  word* abort_;
  std::uint64_t deadline_ns_;
  unsigned one_warp_;
  unsigned in_team_;
};

}}}  // namespace mgsync::v1::algorithm
