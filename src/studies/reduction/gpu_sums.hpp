// Sums by one GPU and by several (paper 000, sections VII-D and VII-E, table VI, figures 15 and 16): every
// block adds up its part of the numbers, and what a way of synchronizing the blocks costs is in the time of
// the sum. Every sum is compared with the one that must come out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/harness/study.hpp"
#include "src/studies/reduction/numbers.hpp"
#include "src/studies/reduction/reading.hpp"

namespace mgsync::reduction {

enum class gpu_way {
  read,        // every block adds up its part, and nobody puts the parts together: the bound
  read_graph,  // the same as nodes of a graph
  word_read,   // as read, by the loop of the paper's figure 10: a number a load
  automatic,   // what this project takes at this size: one kernel, block 0 puts together what the others send
               // it
  automatic_graph,  // the same as nodes of a graph
  last,             // one kernel without a barrier: the last block, by a counter, puts the parts together
  implicit,         // two kernels: the end of the first is the barrier
  implicit_graph,   // the same as nodes of a graph
  programmatic,     // two kernels, the second started before the first has ended, and waiting for it inside
  grid_sync,        // one kernel with cooperative groups' barrier of the grid
  grid_ours,        // one kernel with this project's
  cluster,          // clusters of eight blocks join over distributed shared memory, then the last cluster
  bulk,             // the last block, over numbers that come by bulk copies
  cub,              // cub::DeviceReduce::Sum
  cub_graph,        // the same as nodes of a graph
};
inline constexpr std::pair<gpu_way, std::string_view> gpu_ways[] = {
    {gpu_way::read, "read"},
    {gpu_way::read_graph, "read-graph"},
    {gpu_way::word_read, "word-read"},
    {gpu_way::automatic, "auto"},
    {gpu_way::automatic_graph, "auto-graph"},
    {gpu_way::last, "last-done"},
    {gpu_way::implicit, "implicit"},
    {gpu_way::implicit_graph, "implicit-graph"},
    {gpu_way::programmatic, "programmatic"},
    {gpu_way::grid_sync, "grid-sync"},
    {gpu_way::grid_ours, "grid-ours"},
    {gpu_way::cluster, "cluster"},
    {gpu_way::bulk, "bulk"},
    {gpu_way::cub, "cub"},
    {gpu_way::cub_graph, "cub-graph"}};

// What this project takes: pure.
reading best_reading(gpu_way, value_type, std::size_t bytes);

struct gpu_sum {
  gpu_way how = gpu_way::automatic;
  value_type type = value_type::fp64;
  std::size_t bytes = 1 << 20;  // of one sum
  bool cold = true;  // sums go through four times the second-level cache; else always the same numbers
  int ordinal = 0;   // CUDA's
  std::optional<reading> asked{};  // else best_reading()
};

// Yields, of `count` sums one after the other in one stream, "duration_us" by the host's clock from before
// the first launch call until the host has seen the end, "call_us" until the last call has returned, "event"
// in us, by the device's events, for one sum, "bytes" of one, and the check that make_sum_checker() takes.
subject_creation make_gpu_sum(const gpu_sum&);

// Why this GPU cannot add up so much, or like this; empty where it can.
std::string why_no_gpu_sum(const gpu_sum&);

// What the numbers could come in at most, by the driver's own words: bus width x 2 x memory clock. 0: it does
// not say.
double theory_gbps(int ordinal);

}  // namespace mgsync::reduction
