// The ways in which GPUs put the parts of a sum together: a record each. docs/extending.md adds one.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "barriers/parts/gpu_team/launch_as.hpp"
#include "src/harness/subject.hpp"
#include "src/studies/reduction/gpu_kernels.hpp"

namespace mgsync::reduction {

using gpu_team::launch_as;

// The readings that measured best for a type and the bytes of a sum. Pure.
using best_reading = reading(value_type, std::size_t bytes);
best_reading only_to_read, to_join_in_an_inbox, by_words, by_bulk_copies;

// The kernel behind that of the sum, which adds up what its blocks stored. early: it starts before the end of
// the one in front of it, and waits inside.
enum class second_kernel { none, after, early };

// One GPU.
struct gpu_way {
  std::string_view name;
  joining join = joining::last;  // `counter`: whichever of this project's barriers suits the grid
  launch_as as = launch_as::plain;
  second_kernel second = second_kernel::none;
  bool in_graphs = false;  // the sums are nodes of graphs
  bool needs_9_0 = false;  // compute capability
  // That of `read`, so that what a way takes longer is not its loop's doing. Nothing: cub::DeviceReduce::Sum,
  // which chooses for itself.
  best_reading* best = only_to_read;

  // Nothing is combined: the lower bound.
  constexpr bool only_reads() const {
    return best != nullptr && join == joining::none && second == second_kernel::none;
  }
};
inline constexpr gpu_way gpu_ways[] = {
    {.name = "read", .join = joining::none},
    {.name = "read-graph", .join = joining::none, .in_graphs = true},
    // With the loop of the paper's figure 10: one number per load.
    {.name = "word-read", .join = joining::none, .best = by_words},
    // What this project takes: block 0 puts together what the others send it.
    {.name = "auto", .join = joining::inbox, .as = launch_as::early, .best = to_join_in_an_inbox},
    {.name = "auto-graph",
     .join = joining::inbox,
     .as = launch_as::early,
     .in_graphs = true,
     .best = to_join_in_an_inbox},
    {.name = "last-done"},
    // The end of the first kernel is the barrier.
    {.name = "implicit", .join = joining::none, .second = second_kernel::after},
    {.name = "implicit-graph", .join = joining::none, .second = second_kernel::after, .in_graphs = true},
    {.name = "programmatic", .join = joining::dependent, .second = second_kernel::early, .needs_9_0 = true},
    {.name = "grid-sync", .join = joining::grid_sync, .as = launch_as::cooperative},
    {.name = "grid-ours", .join = joining::counter, .as = launch_as::cooperative},
    // Clusters of eight blocks join over distributed shared memory, then the last cluster adds up.
    {.name = "cluster", .join = joining::cluster, .as = launch_as::clusters, .needs_9_0 = true},
    {.name = "bulk", .needs_9_0 = true, .best = by_bulk_copies},
    {.name = "cub", .best = nullptr},
    {.name = "cub-graph", .in_graphs = true, .best = nullptr}};

struct several_sum;
struct several_parts;
using add_over_gpus = std::unique_ptr<subject>(const several_sum&, several_parts);
add_over_gpus by_one_kernel_each, by_a_tree, by_the_host, by_nccl, by_the_vendor;

template <add_over_gpus* Make>
inline constexpr add_over_gpus* with_cuda = gpu_team::only_with<MGSYNC_WITH_CUDA, Make>();

// Where the blocks of a GPU store their sums: with those of all GPUs, on GPU 0, at the same address for all
// or each at its GPU's share; or on their own GPU.
enum class stored { together, at_a_share, at_home };

// Several GPUs.
struct several_way {
  std::string_view name;
  joining join = joining::none;
  launch_as as = launch_as::plain;
  stored where = stored::together;
  // For how many sums the blocks' sums are kept. 0: for all of a run, where they are the result, or where one
  // GPU may be sums ahead of another.
  unsigned kept = 0;
  add_over_gpus* make = with_cuda<by_one_kernel_each>;
  bool needs_nccl = false;
  bool needs_vendor = false;  // a cubin that an older compiler made, and one process
  bool along_a_tree = false;  // no GPU addresses another but those beside it in the tree
  bool only_reads = false;    // nothing is combined: the lower bound
};
inline constexpr several_way several_ways[] = {
    {.name = "read", .where = stored::at_a_share, .only_reads = true},
    // With this project's barrier of several GPUs inside; then GPU 0 adds up.
    {.name = "single-kernel", .join = joining::several, .as = launch_as::cooperative, .kept = 2},
    // The same with NVIDIA's.
    {.name = "vendor", .kept = 2, .make = with_cuda<by_the_vendor>, .needs_vendor = true},
    // No barrier: the last block of all GPUs, by a counter, adds up.
    {.name = "last-done", .join = joining::last_of_several},
    // No barrier: each GPU sends its sum to the one above it in a tree, with a flag beside it.
    {.name = "gather",
     .join = joining::gathered,
     .where = stored::at_home,
     .kept = 1,
     .make = with_cuda<by_a_tree>,
     .along_a_tree = true},
    // Between two kernels the host waits for its GPUs and meets: threads at a barrier, ranks at MPI's.
    {.name = "host-barrier", .where = stored::at_a_share, .kept = 2, .make = with_cuda<by_the_host>},
    // Each GPU adds up its own numbers, then NCCL's reduction.
    {.name = "nccl",
     .join = joining::last,
     .where = stored::at_home,
     .make = with_cuda<by_nccl>,
     .needs_nccl = true}};

}  // namespace mgsync::reduction
