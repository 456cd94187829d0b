// Sums by several GPUs, all of one process or one per rank; each GPU has numbers of its own (paper 000,
// section VII-E, figure 16).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/session.hpp"
#include "src/harness/study.hpp"
#include "src/studies/reduction/gather_tree.hpp"
#include "src/studies/reduction/numbers.hpp"
#include "src/studies/reduction/reading.hpp"

namespace mgsync::reduction {

enum class several_way {
  read,    // every GPU adds up its numbers, nothing is combined: the lower bound
  single,  // one kernel on each GPU, with this project's barrier of several GPUs inside; then GPU 0 adds up
  vendor,  // the same with NVIDIA's, of a cubin that an older compiler made; one process
  last,    // one kernel on each, no barrier: the last block of all GPUs, by a counter, adds up
  gather,  // one kernel on each, no barrier: each GPU sends its sum to the one above it in a tree, with a
           // flag beside it
  host,    // two kernels, and between them the host waits for its GPUs and meets: threads at a barrier, ranks
           // at MPI's
  nccl,    // each GPU adds up its own numbers, then NCCL's reduction
};
inline constexpr std::pair<several_way, std::string_view> several_ways[] = {
    {several_way::read, "read"},     {several_way::single, "single-kernel"},
    {several_way::vendor, "vendor"}, {several_way::last, "last-done"},
    {several_way::gather, "gather"}, {several_way::host, "host-barrier"},
    {several_way::nccl, "nccl"}};

struct several_sum {
  several_way how = several_way::single;
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
