// The policy of GPU members: the team is the first warp of a block, local scope is the GPU, system scope is the system,
// or the GPU again where a member has no peer. C++17; blocks are one-dimensional and of whole warps.
// Every wait is bounded: after `polls_per_look` polls the team looks at the abort word and at the clock.
#pragma once

#include <cstdint>

#include "barriers/algorithm/policy.hpp"
#include "barriers/algorithm/ptx.hpp"

namespace mgsync::algorithm {

// What bounds every wait of a launch. `abort` lies in host memory that all GPUs see: 0 go on, else why not.
struct cuda_limits {
  static constexpr std::uint32_t timed_out = 1;
  static constexpr std::uint32_t interrupted = 2;

  std::uint32_t* abort = nullptr;
  std::uint64_t budget_ns = 0;  // from the start of the kernel
};

template <ptx::scope Widest>
class cuda_policy {
  static constexpr ptx::scope local = ptx::scope::gpu;
  static constexpr unsigned whole_warp = 0xffffffffu;

 public:
  using word = std::uint32_t;
  using pair = std::uint64_t;
  static constexpr unsigned lanes = 32;
  static constexpr unsigned polls_per_look = 4096;

  __device__ __forceinline__ explicit cuda_policy(const cuda_limits& limits)
      : abort_(limits.abort), deadline_ns_(ptx::global_time_ns() + limits.budget_ns),
        one_warp_(kept(blockDim.x == lanes ? 1u : 0u)) {}

  // A value worked out once and kept: else the compiler works it out anew in every round, from kernel parameters whose
  // reads, one after the other, cost 0.1 us.
  __device__ __forceinline__ static unsigned kept(unsigned value) {
    asm volatile("" : "+r"(value));
    return value;
  }

  __device__ __forceinline__ word load_acquire_local(word& w) const { return ptx::load_acquire<local>(&w); }
  __device__ __forceinline__ word load_acquire_system(word& w) const { return ptx::load_acquire<Widest>(&w); }
  __device__ __forceinline__ word load_relaxed_local(word& w) const { return ptx::load_relaxed<local>(&w); }
  __device__ __forceinline__ void store_relaxed_local(word& w, word v) const { ptx::store_relaxed<local>(&w, v); }
  __device__ __forceinline__ void store_release_local(word& w, word v) const {
    ptx::fence_release<local>();
    ptx::store_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ void add_relaxed_local(word& w, word v) const { ptx::add_relaxed<local>(&w, v); }
  __device__ __forceinline__ void add_release_local(word& w, word v) const {
    ptx::fence_release<local>();
    ptx::add_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ word add_acq_rel_local(word& w, word v) const { return ptx::fetch_add_acq_rel<local>(&w, v); }
  __device__ __forceinline__ word add_acq_rel_system(word& w, word v) const { return ptx::fetch_add_acq_rel<Widest>(&w, v); }
  // The counter that a fence follows before anything is done with its answer (fence_acq_rel_system).
  __device__ __forceinline__ word add_release_local_before_fence(word& w, word v) const {
    ptx::fence_release<local>();
    return ptx::fetch_add_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ void fence_release_local() const { ptx::fence_release<local>(); }
  __device__ __forceinline__ void fence_release_system() const { ptx::fence_acq_rel<Widest>(); }
  __device__ __forceinline__ void store_fenced_system(word& w, word v) const { ptx::store_relaxed<Widest>(&w, v); }
  __device__ __forceinline__ void store_pair_release_local(pair& w, pair v) const {
    ptx::fence_release<local>();
    ptx::store_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ void store_pair_fenced_system(pair& w, pair v) const { ptx::store_relaxed<Widest>(&w, v); }
  __device__ __forceinline__ word poll_local(word& w) const { return ptx::poll<local>(&w); }
  __device__ __forceinline__ word poll_system(word& w) const { return ptx::poll<Widest>(&w); }
  __device__ __forceinline__ void fence_polled_local() const { ptx::fence_polled<local>(); }
  __device__ __forceinline__ void fence_polled_system() const { ptx::fence_polled<Widest>(); }

  __device__ __forceinline__ void sync() const {
    if (one_warp_ != 0) __syncwarp();
    else __syncthreads();
  }
  __device__ __forceinline__ bool sync_and(bool ok) const {
    if (one_warp_ == 0) return __syncthreads_and(ok) != 0;
    __syncwarp();
    return ok;  // the team is the block, and agrees
  }
  __device__ __forceinline__ bool in_team() const { return threadIdx.x < lanes; }
  __device__ __forceinline__ unsigned lane() const { return threadIdx.x % lanes; }
  __device__ __forceinline__ bool leader() const { return lane() == 0; }
  template <class T>
  __device__ __forceinline__ T broadcast(T value) const {
    return __shfl_sync(whole_warp, value, 0);
  }
  __device__ __forceinline__ bool all(bool ok) const { return __all_sync(whole_warp, ok) != 0; }
  __device__ __forceinline__ bool any(bool yes) const { return __any_sync(whole_warp, yes) != 0; }
  __device__ __forceinline__ word sum(word v) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(whole_warp, v, step);
    return v;
#else
    return __reduce_add_sync(whole_warp, v);
#endif
  }
  template <class F>
  __device__ __forceinline__ void for_each(unsigned n, F f) const {
    for (unsigned i = lane(); i < n; i += lanes) f(i);
    __syncwarp();
  }

  __device__ __forceinline__ bool wait_local(word& w, word epoch) const {
    return spin([&] { return reached(ptx::load_acquire<local>(&w), epoch); });
  }
  __device__ __forceinline__ bool wait_system(word& w, word epoch) const {
    return spin([&] { return reached(ptx::load_acquire<Widest>(&w), epoch); });
  }
  __device__ __forceinline__ bool wait_pair_local(pair& w, word epoch, pair& seen) const { return wait_pair<local>(w, epoch, seen); }
  __device__ __forceinline__ bool wait_pair_system(pair& w, word epoch, pair& seen) const { return wait_pair<Widest>(w, epoch, seen); }

  // Until holds(), which the whole team evaluates alike. False: given up. A warp that polls together and votes is
  // faster than one lane that polls while the others wait (0.1 us on Hopper).
  template <class Condition>
  __device__ __forceinline__ bool wait_until(Condition holds) const {
    return spin(holds);
  }

  // Holds the first poll back while the answer cannot be there yet: a poll that comes too early costs a whole turn.
  __device__ __forceinline__ void hold(unsigned cycles) const {
    if (cycles == 0) return;
    const unsigned begin = static_cast<unsigned>(clock64());
    while (static_cast<unsigned>(clock64()) - begin < cycles) {
    }
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

  // The only spin loop. No local variable's address is taken: a store to the stack ahead of a fence costs 0.2 us.
  template <class Condition>
  __device__ __forceinline__ bool spin(Condition holds) const {
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (holds()) return true;
      if (*static_cast<volatile word*>(abort_) != 0) return false;
      if (ptx::global_time_ns() > deadline_ns_) break;
    }
    atomicCAS_system(abort_, 0u, cuda_limits::timed_out);
    return false;
  }

  word* abort_;
  std::uint64_t deadline_ns_;
  unsigned one_warp_;
};

// Symmetric memory as an algorithm sees it. The addresses of the parts are in the kernel's parameters.
struct cuda_lines {
  static constexpr unsigned most_members = 16;

  std::uint32_t* parts[most_members];

  __device__ __forceinline__ std::uint32_t& line(unsigned member, unsigned index) const { return word(member, index, 0); }
  __device__ __forceinline__ std::uint32_t& word(unsigned member, unsigned index, unsigned offset) const {
    return parts[member][index * (line_bytes / sizeof(std::uint32_t)) + offset];
  }
  __device__ __forceinline__ std::uint64_t& pair_line(unsigned member, unsigned index) const {
    return *reinterpret_cast<std::uint64_t*>(&line(member, index));
  }
};

}  // namespace mgsync::algorithm
