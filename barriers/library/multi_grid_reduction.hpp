// What sync_reduce() of a group takes and returns, and how the threads of a block combine theirs. Device
// code, C++17; a part of the public header mgsync/multi_grid.cuh.
#pragma once

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/library/multi_grid_addresses.hpp"
#include "barriers/parts/algorithm/carrier.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"

namespace mgsync { inline namespace v1 {

// Operations: any other functor of two values will do that is associative.
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

// What a barrier that carries values returns; false as sync() does, and `value` is none then.
template <class T>
struct reduced {
  bool passed;
  T value;
  __device__ __forceinline__ explicit operator bool() const { return passed; }
};

namespace algorithm {

// The places of carried values of each GPU: behind its flags.
struct multi_grid_carrier_memory {
  const multi_grid_handle& handle;

  __device__ __forceinline__ std::uint64_t& pair_at(unsigned member, unsigned index) const {
    const unsigned lines =
        handle.algorithm == multi_grid_handle::relay ? relay_layout{}.lines() : spread_layout{}.lines();
    std::uint32_t* const part =
        member == handle.rank ? handle.own : multi_grid_addresses::part_of(handle, member);
    return reinterpret_cast<std::uint64_t*>(part + lines * (line_bytes / sizeof(std::uint32_t)))[index];
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
