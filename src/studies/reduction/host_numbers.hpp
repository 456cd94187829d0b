// The numbers in a host's memory, and how one thread or rank adds up its part of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "src/studies/reduction/numbers.hpp"

namespace mgsync::reduction {

inline constexpr std::size_t sum_granularity = 4096;

// Made once, for all points of a command, and where they are asked for: a rank makes its own part only.
template <class T>
class numbers {
 public:
  static std::shared_ptr<numbers> of_at_least(std::size_t bytes) {
    static std::shared_ptr<numbers> made;
    if (!made || made->bytes_ < bytes) made.reset(new numbers(bytes));
    return made;
  }
  const T* values() const { return memory_.get(); }
  // Numbers from place `first` to `end`; by OpenMP's threads, so that memory is near those that read it.
  void make(std::size_t first, std::size_t end) {
    constexpr std::size_t each = sum_granularity / sizeof(T);
    const auto from = static_cast<std::ptrdiff_t>(first / each), to = static_cast<std::ptrdiff_t>((end + each - 1) / each);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t chunk = from; chunk < to; ++chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      if (made_[at] != 0) continue;
      for (std::size_t i = at * each; i < (at + 1) * each; ++i) memory_.get()[i] = static_cast<T>(number_at(static_cast<std::uint32_t>(i)));
      made_[at] = 1;
    }
  }

 private:
  struct free_it {
    void operator()(void* memory) const { std::free(memory); }
  };
  explicit numbers(std::size_t bytes) : bytes_(bytes), memory_(static_cast<T*>(std::aligned_alloc(sum_granularity, bytes))), made_(bytes / sum_granularity, 0) {
    if (!memory_) throw std::bad_alloc();
  }

  std::size_t bytes_;
  std::unique_ptr<T, free_it> memory_;
  std::vector<char> made_;  // by chunks of sum_granularity
};

// Of one thread: independent sums side by side, so that the latency of an addition is hidden.
template <class T>
T sum_of(const T* values, std::size_t count) {
  constexpr std::size_t at_once = 16;
  T sums[at_once] = {};
  std::size_t i = 0;
  for (; i + at_once <= count; i += at_once) {
#pragma omp simd
    for (std::size_t j = 0; j < at_once; ++j) sums[j] += values[i + j];
  }
  for (; i < count; ++i) sums[0] += values[i];
  T all = 0;
  for (const T each : sums) all += each;
  return all;
}

// Where a member's part of `count` numbers begins: at a whole line; or all are the first member's.
constexpr std::size_t first_of_part(std::size_t count, unsigned member, unsigned members, bool all_first) {
  if (all_first) return member == 0 ? 0 : count;
  return std::min(count, (count * member / members + 31) / 32 * 32);
}

}  // namespace mgsync::reduction
