// Sums by host threads (paper 000, section VII, on a processor instead of a GPU): each adds up its part, a
// barrier follows, explicit or the end of a parallel region, and one adds up the parts. Every sum is compared
// with the one that must come out.
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
  read,       // every thread reads its part, and nobody puts the parts together: the bound
  serial,     // one thread
  implicit,   // the end of a parallel region, then one adds up
  explicit_,  // one parallel region: OpenMP's barrier inside, then one adds up, and a barrier until all may
              // go on
  ours,       // the same with the barrier of this project
  last,       // no barrier: who comes last, by a counter, adds up
  clause,     // OpenMP's reduction clause
};
inline constexpr std::pair<way, std::string_view> ways[] = {
    {way::read, "read"}, {way::serial, "serial"},  {way::implicit, "implicit"}, {way::explicit_, "explicit"},
    {way::ours, "ours"}, {way::last, "last-done"}, {way::clause, "clause"}};

struct host_sum {
  way how = way::implicit;
  value_type type = value_type::fp64;
  std::size_t bytes = 1 << 20;  // of one sum; a multiple of sum_granularity
  std::size_t working_set = 0;  // sums go through it one after the other; at least `bytes`
  unsigned threads = 1;
  std::vector<int> cpus{};  // of each thread; empty: not pinned
  bool all_first = false;  // all numbers are the first member's, and the others only meet: what joining costs
};

// Yields "duration_us" of `count` sums, "bytes" of one, and the check that make_sum_checker() takes.
subject_creation make_host_sum(const host_sum&);

// Of the last level, in bytes; 0: unknown.
std::size_t last_cache_bytes();

}  // namespace mgsync::reduction
