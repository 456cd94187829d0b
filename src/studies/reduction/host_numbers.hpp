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

// The numbers, made on demand and once for all points of a command: a rank makes only its own share.
template <class T>
class numbers {
 public:
  static std::shared_ptr<numbers> of_at_least(std::size_t bytes) {
    static std::shared_ptr<numbers> made;
    if (!made || made->bytes_ < bytes) made.reset(new numbers(bytes));
    return made;
  }
  const T* values() const { return memory_.get(); }
  // Makes the numbers from place `first` to before `end` with that many threads. To be called before any
  // thread is pinned, since new threads inherit the affinity of their creator.
  void make(std::size_t first, std::size_t end, unsigned threads) {
    constexpr std::size_t each = sum_granularity / sizeof(T);
    std::vector<std::size_t> wanted;
    for (std::size_t chunk = first / each; chunk < (end + each - 1) / each; ++chunk)
      if (made_[chunk] == 0) wanted.push_back(chunk), made_[chunk] = 1;
    if (wanted.empty()) return;
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(threads))
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (std::size_t i = wanted[k] * each; i < (wanted[k] + 1) * each; ++i)
        memory_.get()[i] = static_cast<T>(number_at(static_cast<std::uint32_t>(i)));
  }

 private:
  struct free_it {
    void operator()(void* memory) const { std::free(memory); }
  };
  explicit numbers(std::size_t bytes)
      : bytes_(bytes),
        memory_(static_cast<T*>(std::aligned_alloc(sum_granularity, bytes))),
        made_(bytes / sum_granularity, 0) {
    if (!memory_) throw std::bad_alloc();
  }

  std::size_t bytes_;
  std::unique_ptr<T, free_it> memory_;
  std::vector<char> made_;  // by chunks of sum_granularity
};

// The sum of one thread's share, by several independent sums that hide the latency of an addition.
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

// Where a member's share of `count` numbers begins: at a cache line. With `all_first` the first member has
// all numbers.
constexpr std::size_t first_of_part(std::size_t count, unsigned member, unsigned members, bool all_first) {
  if (all_first) return member == 0 ? 0 : count;
  return std::min(count, (count * member / members + 31) / 32 * 32);
}

}  // namespace mgsync::reduction
