// Sums by host threads (paper 000, section VII, on a processor instead of a GPU): each adds up its part, a barrier follows,
// explicit or the end of a parallel region, and one adds up the parts. Every sum is compared with the one that must come out.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/harness/study.hpp"

namespace mgsync::reduction {

enum class way {
  read,      // every thread reads its part, and nobody puts the parts together: the bound
  serial,    // one thread
  implicit,  // the end of a parallel region, then one adds up
  explicit_, // one parallel region: OpenMP's barrier inside, then one adds up, and a barrier until all may go on
  ours,      // the same with the barrier of this project
  last,      // no barrier: who comes last, by a counter, adds up
  clause,    // OpenMP's reduction clause
};
inline constexpr std::pair<way, std::string_view> ways[] = {{way::read, "read"},         {way::serial, "serial"}, {way::implicit, "implicit"},
                                                            {way::explicit_, "explicit"}, {way::ours, "ours"},     {way::last, "last-done"},
                                                            {way::clause, "clause"}};

inline constexpr std::size_t sum_granularity = 4096;

struct host_sum {
  way how = way::implicit;
  bool floating = true;            // FP64; else int32, modulo 2^32
  std::size_t bytes = 1 << 20;     // of one sum; a multiple of sum_granularity
  std::size_t working_set = 0;     // sums go through it one after the other; at least `bytes`
  unsigned threads = 1;
  std::vector<int> cpus{};         // of each thread; empty: not pinned
};

// The fault that a proving run may ask for: the last number is left out.
inline constexpr const char* leave_out_the_last = "leave out the last number";

// Yields "duration_us" of `count` sums, "bytes" of one, and evidence "sums" (compared) and "wrong" (of them). A run of which
// a sum is wrong ends as wrong, unless it was asked for the fault.
subject_creation make_host_sum(const host_sum&);

// Every sum of every timed run is right, and one that leaves a number out is found.
std::unique_ptr<prover> make_sum_prover();

// Of the last level, in bytes; 0: unknown.
std::size_t last_cache_bytes();

}  // namespace mgsync::reduction
