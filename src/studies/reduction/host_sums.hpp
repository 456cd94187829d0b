// Sums by host threads (paper 000, section VII, on a processor instead of a GPU): each adds up its share, a
// barrier follows (explicit, or the end of a parallel region), and one adds up the partial sums. Every sum is
// compared with the exact one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/harness/study.hpp"
#include "src/studies/reduction/host_numbers.hpp"

namespace mgsync::reduction {

enum class way {
  read,       // every thread reads its share, nothing is combined: the lower bound
  serial,     // one thread
  implicit,   // the end of a parallel region, then one adds up
  explicit_,  // one parallel region: OpenMP's barrier inside, then one adds up, and a barrier until all may
              // go on
  ours,       // the same with the barrier of this project
  last,       // no barrier: the last thread to arrive at a counter adds up
  clause,     // OpenMP's reduction clause
};
inline constexpr std::pair<way, std::string_view> ways[] = {
    {way::read, "read"}, {way::serial, "serial"},  {way::implicit, "implicit"}, {way::explicit_, "explicit"},
    {way::ours, "ours"}, {way::last, "last-done"}, {way::clause, "clause"}};

struct host_sum {
  way how = way::implicit;
  value_type type = value_type::fp64;
  std::size_t bytes = 1 << 20;  // of one sum; a multiple of sum_granularity
  std::size_t working_set = 0;  // successive sums cycle through so many bytes; at least `bytes`
  unsigned threads = 1;
  std::vector<int> cpus{};  // the hardware thread of each thread; empty: not pinned
  bool all_first = false;  // all numbers are the first member's, and the others only meet: what joining costs
};

// A run yields "duration_us" of `count` sums, "bytes" of one, and the counts that make_sum_checker() takes.
subject_creation make_host_sum(const host_sum&);

// The size of the last-level cache in bytes; 0: unknown.
std::size_t last_cache_bytes();

}  // namespace mgsync::reduction
