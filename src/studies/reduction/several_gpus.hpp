// Sums by several GPUs of one process, each over numbers of its own (paper 000, section VII-E, figure 16).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/harness/study.hpp"
#include "src/studies/reduction/numbers.hpp"
#include "src/studies/reduction/reading.hpp"

namespace mgsync::reduction {

enum class several_way {
  read,      // every GPU adds up its part, and nobody puts the parts together: the bound
  single,    // one kernel on each GPU, with this project's barrier of several GPUs inside; then GPU 0 adds up
  last,      // one kernel on each, no barrier: the last block of all GPUs, by a counter, adds up
  host,      // two kernels, and between them the host's threads wait for their GPUs and meet at OpenMP's barrier
  nccl,      // each GPU its own sum, then NCCL's reduction of these
};
inline constexpr std::pair<several_way, std::string_view> several_ways[] = {{several_way::read, "read"},
                                                                            {several_way::single, "single-kernel"},
                                                                            {several_way::last, "last-done"},
                                                                            {several_way::host, "host-barrier"},
                                                                            {several_way::nccl, "nccl"}};

struct several_sum {
  several_way how = several_way::single;
  value_type type = value_type::fp64;
  std::size_t bytes = 1 << 20;      // of one sum, on each GPU
  bool cold = true;                 // as gpu_sum's
  std::vector<int> ordinals{};      // CUDA's, at least two
  std::optional<reading> asked{};
};

// Yields "duration_us" of `count` sums, the longest of the GPUs' own, "call_us", "bytes" of one on all GPUs together, and
// the evidence that make_sum_prover() takes.
subject_creation make_several_sum(const several_sum&);

}  // namespace mgsync::reduction
