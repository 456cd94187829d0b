// Where in a GPU's memory the numbers of successive sums are, and whether a sum is right. Host code with
// CUDA.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/studies/reduction/gpu_numbers.hpp"

namespace mgsync::reduction {

inline constexpr std::size_t place_granularity = 4096;

constexpr std::size_t stride_of(std::size_t bytes) {
  return (bytes + place_granularity - 1) / place_granularity * place_granularity;
}

struct sums_in_turn {
  std::size_t bytes = 0;  // of one sum
  bool cold = true;       // sums cycle through four times the size of the L2 cache
  int ordinal = 0;
};
// After how many sums the same numbers are used again.
inline std::size_t places_of(const sums_in_turn& all) {
  const auto stride = stride_of(all.bytes);
  return all.cold ? std::max<std::size_t>(1, (4 * cache_bytes(all.ordinal) + stride - 1) / stride) : 1;
}

template <class T>
bool adds_up_to(const std::byte* parts, std::size_t count, std::int64_t expected) {
  const auto* values = reinterpret_cast<const T*>(parts);
  T all = values[0];
  for (std::size_t i = 1; i < count; ++i) all += values[i];
  return all == static_cast<T>(expected);
}

// Whether the `count` values of `type` at `parts` add up to `expected`.
inline bool is_sum(value_type type, const std::byte* parts, std::size_t count, std::int64_t expected) {
  switch (type) {
  case value_type::fp64: return adds_up_to<double>(parts, count, expected);
  case value_type::fp32: return adds_up_to<float>(parts, count, expected);
  case value_type::int32: return adds_up_to<std::uint32_t>(parts, count, expected);
  }
  return false;
}

}  // namespace mgsync::reduction
