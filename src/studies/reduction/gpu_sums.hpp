// Sums by one GPU (paper 000, section VII-D, table VI, figure 15): every
// block adds up its part of the numbers, and what a way of synchronizing the blocks costs is in the time of
// the sum. Every sum is compared with the one that must come out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "src/harness/study.hpp"
#include "src/studies/reduction/gpu_ways.hpp"

namespace mgsync::reduction {

struct gpu_sum {
  const gpu_way* how = gpu_ways;
  value_type type = value_type::fp64;
  std::size_t bytes = 1 << 20;     // size of the numbers of one sum
  bool cold = true;                // sums cycle through four times the L2 cache; else always the same numbers
  int ordinal = 0;                 // the GPU, as CUDA counts
  std::optional<reading> asked{};  // how blocks read; nothing: the best for the way
};

// A run makes `count` sums one after the other in one stream. It yields "duration_us", by the host's clock
// from before the first launch call until the host has seen the end; "call_us", until the last launch call
// has returned; "event", us per sum by CUDA events; "bytes" of one sum; and the counts that
// make_sum_checker() takes.
subject_creation make_gpu_sum(const gpu_sum&);

// Why this GPU cannot run these sums; empty where it can.
std::string why_no_gpu_sum(const gpu_sum&);

// The theoretical memory bandwidth in GB/s from what the driver reports: bus width x 2 x memory clock. 0
// where it does not report these.
double theory_gbps(int ordinal);

}  // namespace mgsync::reduction
