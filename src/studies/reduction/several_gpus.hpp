// Sums by several GPUs, of one process or of one rank each, over numbers of its own each (paper 000, section
// VII-E, figure 16).
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
  read,    // every GPU adds up its part, and nobody puts the parts together: the bound
  single,  // one kernel on each GPU, with this project's barrier of several GPUs inside; then GPU 0 adds up
  vendor,  // the same with NVIDIA's, of a cubin that an older compiler made; one process
  last,    // one kernel on each, no barrier: the last block of all GPUs, by a counter, adds up
  gather,  // one kernel on each, no barrier: each GPU sends its sum to the one above it in a tree, with a
           // flag beside it
  host,    // two kernels, and between them the host waits for its GPUs and meets: threads at a barrier, ranks
           // at MPI's
  nccl,    // each GPU its own sum, then NCCL's reduction of these
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
  bool cold = true;                // as gpu_sum's
  topology::group group{};         // at least two, all of one process or each of another
  const session* where = nullptr;  // of all processes that have a member
  gather_tree tree{};
  std::optional<reading> asked{};
};

// Yields "duration_us" of `count` sums, the longest of the GPUs' own, "call_us", "bytes" of one on all GPUs
// together, and the check that make_sum_checker() takes. Collective over the session's ranks.
subject_creation make_several_sum(const several_sum&);

}  // namespace mgsync::reduction
