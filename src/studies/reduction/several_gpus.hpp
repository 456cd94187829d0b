// Sums by several GPUs, all of one process or one per rank; each GPU has numbers of its own (paper 000,
// section VII-E, figure 16).
#pragma once

#include "src/base/session.hpp"
#include "src/harness/study.hpp"
#include "src/studies/reduction/gather_tree.hpp"
#include "src/studies/reduction/gpu_ways.hpp"
#include <optional>

namespace mgsync::reduction {

struct several_sum {
  const several_way* how = several_ways;
  value_type type = value_type::fp64;
  std::size_t bytes = 1 << 20;     // of one sum, on each GPU
  bool cold = true;                // as in gpu_sum
  topology::group group{};         // at least two members, all in one process or one per process
  const session* where = nullptr;  // the session of all processes that have a member
  gather_tree tree{};
  std::optional<reading> asked{};
};

// A run yields "duration_us" of `count` sums, the longest of any GPU, "call_us", "bytes" of one sum on all
// GPUs together, and the counts that make_sum_checker() takes. Collective over the ranks of the session.
subject_creation make_several_sum(const several_sum&);

}  // namespace mgsync::reduction
