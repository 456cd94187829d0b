// Where in a GPU's memory the numbers of successive sums are, and whether a sum is right. Host code with
// CUDA.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/studies/reduction/gpu_numbers.hpp"

namespace mgsync::reduction {

inline constexpr std::size_t place_granularity = 4096;

constexpr std::size_t stride_of(std::size_t bytes) {
  return (bytes + place_granularity - 1) / place_granularity * place_granularity;
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

// The numbers of successive sums on a GPU: cold ones cycle through four times the size of its L2 cache.
class places_of_sums {
 public:
  places_of_sums() = default;
  places_of_sums(int ordinal, value_type type, std::size_t bytes, bool cold)
      : type_(type), count_(bytes / bytes_of(type)), stride_(stride_of(bytes)) {
    if (cold) places_ = std::max<std::size_t>(1, (4 * cache_bytes(ordinal) + stride_ - 1) / stride_);
  }
  std::size_t bytes() const { return places_ * stride_; }
  std::size_t offset_of(std::size_t turn) const { return turn % places_ * stride_; }

  // How many of `sums` results are wrong. Each, `apart` bytes behind the one before, is the sum of `parts`
  // values; `gpus` GPUs have the same numbers.
  std::uint64_t wrong(const std::vector<std::byte>& results, std::size_t apart, std::size_t parts,
                      unsigned gpus = 1) {
    std::uint64_t wrong = 0;
    for (std::size_t turn = 0; turn * apart < results.size(); ++turn) {
      const auto place = turn % places_;
      if (place >= expected_.size())
        expected_.push_back(gpus * sum_of_numbers(place * stride_ / bytes_of(type_), count_));
      wrong += !is_sum(type_, results.data() + turn * apart, parts, expected_[place]);
    }
    return wrong;
  }

 private:
  value_type type_ = value_type::fp64;
  std::size_t count_ = 0, stride_ = 0, places_ = 1;
  std::vector<std::int64_t> expected_;  // the exact sum at each place
};

inline double us_between(std::chrono::steady_clock::time_point from,
                         std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

}  // namespace mgsync::reduction
