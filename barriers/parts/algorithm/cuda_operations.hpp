// What every policy of GPU members does alike: loads, stores, additions and fences by their ordering, and the
// lanes of a warp, which is the team. Local scope is the GPU, system scope `Widest`. C++17.
#pragma once

#include "barriers/parts/algorithm/integers.hpp"
#include "barriers/parts/algorithm/policy.hpp"
#include "barriers/parts/algorithm/ptx.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// An operation that one instruction does for a whole warp, where the order makes no difference.
template <class Op, class V>
struct of_warp {
  static constexpr bool known = false;
};

template <ptx::scope Widest>
class cuda_operations {
  static constexpr ptx::scope local = ptx::scope::gpu;
  static constexpr unsigned whole_warp = 0xffffffffu;

 public:
  using word = std::uint32_t;
  using pair = std::uint64_t;
  static constexpr unsigned lanes = 32;

  // Hides from the compiler how the value was computed, so that it is kept in a register and not computed
  // anew in every round from kernel parameters, whose reads, one after the other, cost 0.1 us.
  __device__ __forceinline__ static unsigned kept(unsigned value) {
    asm volatile("" : "+r"(value));
    return value;
  }

  __device__ __forceinline__ word load_acquire_local(word& w) const { return ptx::load_acquire<local>(&w); }
  __device__ __forceinline__ word load_acquire_system(word& w) const { return ptx::load_acquire<Widest>(&w); }
  __device__ __forceinline__ word load_relaxed_system(word& w) const { return ptx::load_relaxed<Widest>(&w); }
  __device__ __forceinline__ pair load_pair_relaxed_system(pair& w) const {
    return ptx::load_relaxed<Widest>(&w);
  }
  __device__ __forceinline__ word load_relaxed_local(word& w) const { return ptx::load_relaxed<local>(&w); }
  __device__ __forceinline__ void store_relaxed_local(word& w, word v) const {
    ptx::store_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ void store_release_local(word& w, word v) const {
    ptx::fence_release<local>();
    ptx::store_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ void add_relaxed_local(word& w, word v) const { ptx::add_relaxed<local>(&w, v); }
  __device__ __forceinline__ void add_release_local(word& w, word v) const {
    ptx::fence_release<local>();
    ptx::add_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ word add_acq_rel_local(word& w, word v) const {
    return ptx::fetch_add_acq_rel<local>(&w, v);
  }
  __device__ __forceinline__ word add_acq_rel_system(word& w, word v) const {
    return ptx::fetch_add_acq_rel<Widest>(&w, v);
  }
  // No acquire by itself: who needs one for the returned value calls fence_polled_local() afterwards.
  __device__ __forceinline__ word fetch_add_release_local(word& w, word v) const {
    ptx::fence_release<local>();
    return ptx::fetch_add_polled<local>(&w, v);
  }
  __device__ __forceinline__ word fetch_add_polled_local(word& w, word v) const {
    return ptx::fetch_add_polled<local>(&w, v);
  }
  __device__ __forceinline__ word fetch_add_relaxed_local(word& w, word v) const {
    return ptx::fetch_add_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ void fence_release_local() const { ptx::fence_release<local>(); }
  __device__ __forceinline__ void fence_release_system() const { ptx::fence_release<Widest>(); }
  __device__ __forceinline__ void store_fenced_system(word& w, word v) const {
    ptx::store_relaxed<Widest>(&w, v);
  }
  __device__ __forceinline__ void add_fenced_system(word& w, word v) const {
    ptx::add_relaxed<Widest>(&w, v);
  }
  __device__ __forceinline__ bool swap_fenced_system(word& w, word from, word to) const {
    return ptx::swap_relaxed<Widest>(&w, from, to) == from;
  }
  __device__ __forceinline__ bool swap_acquire_system(word& w, word from, word to) const {
    return ptx::swap_acquire<Widest>(&w, from, to) == from;
  }
  __device__ __forceinline__ void store_pair_relaxed_local(pair& w, pair v) const {
    ptx::store_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ pair load_pair_relaxed_local(const pair& w) const {
    return ptx::load_relaxed<local>(&w);
  }
  __device__ __forceinline__ void store_pair_release_local(pair& w, pair v) const {
    ptx::fence_release<local>();
    ptx::store_relaxed<local>(&w, v);
  }
  __device__ __forceinline__ void store_pair_fenced_system(pair& w, pair v) const {
    ptx::store_relaxed<Widest>(&w, v);
  }
  __device__ __forceinline__ word poll_local(word& w) const { return ptx::poll<local>(&w); }
  __device__ __forceinline__ word poll_system(word& w) const { return ptx::poll<Widest>(&w); }
  __device__ __forceinline__ pair poll_pair_system(const pair& w) const { return ptx::poll<Widest>(&w); }
  __device__ __forceinline__ void fence_polled_local() const { ptx::fence_polled<local>(); }
  __device__ __forceinline__ void fence_polled_system() const { ptx::fence_polled<Widest>(); }

  __device__ __forceinline__ unsigned lane() const { return ptx::lane(); }
  __device__ __forceinline__ bool leader() const { return lane() == 0; }
  template <class T>
  __device__ __forceinline__ T broadcast(T value) const {
    return __shfl_sync(whole_warp, value, 0);
  }
  __device__ __forceinline__ void sync_team() const { __syncwarp(); }
  __device__ __forceinline__ bool all(bool ok) const { return __all_sync(whole_warp, ok) != 0; }
  __device__ __forceinline__ bool any(bool yes) const { return __any_sync(whole_warp, yes) != 0; }
  __device__ __forceinline__ word sum(word v) const {
#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800) || defined(__CUDA__)  // clang 16 has no __reduce_add_sync
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(whole_warp, v, step);
    return v;
#else
    return __reduce_add_sync(whole_warp, v);
#endif
  }
  // Of the first `n` lanes, in the order that carrier.hpp says; all of `present` call it, and all get it.
  template <class V, class Op>
  __device__ __forceinline__ V combined(V v, unsigned n, Op op, unsigned present = whole_warp) const {
    if (n != lanes) {
#pragma unroll 1
      for (unsigned step = n > 16 ? 16 : n > 8 ? 8 : n > 4 ? 4 : n > 2 ? 2 : 1; step != 0; step /= 2) {
        const V other = __shfl_xor_sync(present, v, step);
        if (lane() + step < n) v = op(v, other);
      }
    } else if constexpr (of_warp<Op, V>::known) {
      return of_warp<Op, V>::made(v);
    } else {
#pragma unroll
      for (unsigned step = lanes / 2; step != 0; step /= 2) v = op(v, __shfl_xor_sync(present, v, step));
    }
    return __shfl_sync(present, v, 0);
  }
  // Polls every lane's words once; returns whether all are reached. Each kind of loop uses another vote
  // instruction: relay.hpp says why.
  template <polling Loop, unsigned N, class Words>
  __device__ __forceinline__ bool all_reached(Words words) const {
    bool here = true;
    for (unsigned i = 0; i < N; ++i) {
      const polled_word<word> w = words(i);
      if (N != 1 && w.address == nullptr) continue;
      here = here && reached(seen_by<Loop>(w.address), w.target);
    }
    if constexpr (Loop == polling::inbox) return __all_sync(whole_warp, here) != 0;
    if constexpr (Loop == polling::counter || Loop == polling::quiet)
      return __ballot_sync(whole_warp, here) == whole_warp;
    return __any_sync(whole_warp, !here) == 0;
  }
  template <class F>
  __device__ __forceinline__ void for_each(unsigned n, F f) const {
    for (unsigned i = lane(); i < n; i += lanes) f(i);
    __syncwarp();
  }

  // The word that lies at the same place in the line behind.
  __device__ __forceinline__ static word& behind(word& w) { return (&w)[line_bytes / sizeof(word)]; }

  // Delays the first poll while the answer cannot be there yet: a poll that comes too early costs a whole
  // round trip.
  __device__ __forceinline__ void hold(unsigned cycles) const {
    const unsigned begin = static_cast<unsigned>(clock64());
    while (static_cast<unsigned>(clock64()) - begin < cycles) {}
  }

 private:
  template <polling Loop>
  __device__ __forceinline__ static word seen_by(const word* w) {
    if constexpr (Loop == polling::quiet) return ptx::load_relaxed<Widest>(w);
    else return Loop == polling::inbox ? ptx::poll<Widest>(w) : ptx::poll<local>(w);
  }
};

// Symmetric memory as an algorithm sees it. The addresses of the parts are in the kernel's parameters.
struct cuda_lines {
  static constexpr unsigned most_members = 16;

  std::uint32_t* parts[most_members];

  __device__ __forceinline__ std::uint32_t& line(unsigned member, unsigned index) const {
    return word(member, index, 0);
  }
  __device__ __forceinline__ std::uint32_t& word(unsigned member, unsigned index, unsigned offset) const {
    return parts[member][index * (line_bytes / sizeof(std::uint32_t)) + offset];
  }
  __device__ __forceinline__ std::uint64_t& pair_line(unsigned member, unsigned index) const {
    return *reinterpret_cast<std::uint64_t*>(&line(member, index));
  }
};

}}}  // namespace mgsync::v1::algorithm
