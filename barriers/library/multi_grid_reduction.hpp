// What sync_reduce() of a group takes and returns, and how the threads of a block combine theirs. Device
// code, C++17; a part of the public header mgsync/multi_grid.cuh.
#pragma once

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/library/multi_grid_addresses.hpp"
#include "barriers/parts/algorithm/carrier.hpp"
#include "barriers/parts/algorithm/cuda_operations.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"

namespace mgsync { inline namespace v1 {

// Operations: any other functor of two values will do that is associative and commutative.
struct by_sum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct by_min {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct by_max {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct by_and {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a & b;
  }
};
struct by_or {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a | b;
  }
};

#if (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800) &&                                                     \
    !defined(__CUDA__)  // clang 16 has no __reduce_add_sync
namespace algorithm {

// A macro, as the instruction's name is what they differ by.
#define MGSYNC_OF_WARP(Op, T, instruction)                                                                   \
  template <>                                                                                                \
  struct of_warp<Op, T> {                                                                                    \
    static constexpr bool known = true;                                                                      \
    __device__ __forceinline__ static T made(T v) { return instruction(~0u, v); }                            \
  };
MGSYNC_OF_WARP(by_sum, std::uint32_t, __reduce_add_sync)
MGSYNC_OF_WARP(by_sum, std::int32_t, __reduce_add_sync)
MGSYNC_OF_WARP(by_min, std::uint32_t, __reduce_min_sync)
MGSYNC_OF_WARP(by_min, std::int32_t, __reduce_min_sync)
MGSYNC_OF_WARP(by_max, std::uint32_t, __reduce_max_sync)
MGSYNC_OF_WARP(by_max, std::int32_t, __reduce_max_sync)
MGSYNC_OF_WARP(by_and, std::uint32_t, __reduce_and_sync)
MGSYNC_OF_WARP(by_or, std::uint32_t, __reduce_or_sync)
#undef MGSYNC_OF_WARP

}  // namespace algorithm
#endif

// What a barrier that carries values returns; false as sync() does, and `value` is none then.
template <class T>
struct reduced {
  bool passed;
  T value;
  __device__ __forceinline__ explicit operator bool() const { return passed; }
};

namespace algorithm {

// Of the calling block (carrier.hpp). Its member's own values lie behind the flags; what members told, behind
// the lines of inboxes or, of a counter, of the first counter of each copy.
struct multi_grid_carrier_memory {
  using word = std::uint32_t;
  static constexpr unsigned words_of_pair = sizeof(std::uint64_t) / sizeof(word);

  const multi_grid_handle& handle;
  std::uint32_t state;
  const multi_grid_addresses& words;
  unsigned block;

  __device__ __forceinline__ std::uint64_t& value(unsigned index) const { return pairs(own_values())[index]; }
  __device__ __forceinline__ std::uint64_t& heard(unsigned from, unsigned turn, unsigned half) const {
    return behind(line_of_copy(block & (handle.copies - 1)), turn, half)[from];
  }
  template <class F>
  __device__ __forceinline__ void each_told(unsigned turn, unsigned half, F f) const {
    if ((state & multi_grid_state::counter) == 0) {
      // Its words of the inboxes, which follow one another as the pairs behind them do.
      multi_grid_relay_addresses(handle, state, words).out().each([&](word& w) {
        f(behind(&w + handle.rank * (words_of_pair - 1), turn, half)[0]);
      });
    } else if ((state & multi_grid_state::tells) != 0) {
      f(behind(line_of_copy(ptx::lane()), turn, half)[0]);
    }
  }

 private:
  __device__ __forceinline__ static std::uint64_t* pairs(word* first) {
    return reinterpret_cast<std::uint64_t*>(first);
  }
  __device__ __forceinline__ static std::uint64_t* behind(word* line, unsigned turn, unsigned half) {
    return pairs(line + carried_inbox::lines_ahead * multi_grid_addresses::words_of_line) +
           carried_inbox::place(turn, half, 0);
  }
  __device__ __forceinline__ word* own_values() const {
    return multi_grid_addresses::line(handle, handle.algorithm == multi_grid_handle::relay
                                                  ? relay_layout{}.lines()
                                                  : spread_layout{}.lines());
  }
  __device__ __forceinline__ word* line_of_copy(unsigned copy) const {
    return multi_grid_addresses::line(handle, handle.algorithm == multi_grid_handle::relay
                                                  ? relay_layout{}.inbox(copy)
                                                  : spread_layout{}.counter(copy, 0));
  }
};

// Through which the warps of a block tell one another their values, and then hear the result.
__device__ __forceinline__ std::uint64_t* places_of_warps() {
  constexpr unsigned most_warps = 32;
  __shared__ std::uint64_t places[most_warps + 1];
  return places;
}
template <class T>
__device__ __forceinline__ T& place_of_warp(unsigned warp) {
  return *reinterpret_cast<T*>(places_of_warps() + warp);
}
template <class T>
__device__ __forceinline__ T& place_of_result() {
  return place_of_warp<T>(32);
}

// The barrier of those of a block that take part. Returns, in the first warp of these, what is made of their
// values.
template <class P, class T, class Op>
__device__ __forceinline__ T meet_and_combine(const P& policy, T mine, Op op) {
  const unsigned threads = P::threads(), thread = P::thread(), warp = thread / 32;
  const unsigned in_warp = threads - 32 * warp < 32 ? threads - 32 * warp : 32;
  T value = policy.combined(mine, in_warp, op, ~0u >> (32 - in_warp));
  if (threads <= 32) {
    policy.sync();
    return value;
  }
  if (thread % 32 == 0) place_of_warp<T>(warp) = value;
  policy.sync();
  if (warp == 0) {
    const unsigned warps = (threads + 31) / 32;
    if (thread < warps) value = place_of_warp<T>(thread);
    value = policy.combined(value, warps, op);
  }
  return value;
}

}  // namespace algorithm

}}  // namespace mgsync::v1
