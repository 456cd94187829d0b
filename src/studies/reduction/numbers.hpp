// The numbers that are added up, as a function of their place: integers from -8 to 8 and never 0. Sums of
// them stay far below 2^24, up to which FP32 is exact, so that every order of addition gives the same sum to
// the last bit; and a number that is left out or counted twice always changes the sum. C++17, the same on
// host and GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#if defined(__CUDACC__)
#define MGSYNC_REDUCTION_HD __host__ __device__
#else
#define MGSYNC_REDUCTION_HD
#endif

namespace mgsync::reduction {

enum class value_type { fp64, fp32, int32 };
inline constexpr std::pair<value_type, std::string_view> value_types[] = {
    {value_type::fp64, "fp64"}, {value_type::fp32, "fp32"}, {value_type::int32, "int32"}};

constexpr std::size_t bytes_of(value_type type) { return type == value_type::fp64 ? 8 : 4; }

MGSYNC_REDUCTION_HD constexpr std::int32_t number_at(std::uint32_t place) {
  std::uint32_t x = place * 0x9e3779b1u;
  x = (x ^ (x >> 15)) * 0x85ebca77u;
  x = (x ^ (x >> 13)) * 0xc2b2ae3du;
  const auto low = static_cast<std::int32_t>(x >> 28) - 8;  // -8 to 7
  return low < 0 ? low : low + 1;
}

// The exact sum of `count` numbers from place `first` on. Partial sums are cached; not thread-safe.
std::int64_t sum_of_numbers(std::size_t first, std::size_t count);

}  // namespace mgsync::reduction
