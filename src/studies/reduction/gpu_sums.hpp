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
  read,        // every block adds up its share, nothing is combined: the lower bound
  read_graph,  // the same as nodes of a graph
  word_read,   // as `read`, with the loop of the paper's figure 10: one number per load
  automatic,   // what this project takes at this size: one kernel, block 0 puts together what the others send
               // it
  automatic_graph,  // the same as nodes of a graph
  last,             // one kernel without a barrier: the last block to arrive at a counter adds up
  implicit,         // two kernels: the end of the first is the barrier
  implicit_graph,   // the same as nodes of a graph
  programmatic,     // two kernels, the second started before the first has ended, and waiting for it inside
  grid_sync,        // one kernel with cooperative groups' barrier of the grid
  grid_ours,        // the same with this project's barrier of the grid
  cluster,          // clusters of eight blocks join over distributed shared memory, then the last cluster
  bulk,             // as `last`, with numbers that come by bulk copies
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

// The reading that measured best for this way, type and size. Pure.
reading best_reading(gpu_way, value_type, std::size_t bytes);

struct gpu_sum {
  gpu_way how = gpu_way::automatic;
  value_type type = value_type::fp64;
  std::size_t bytes = 1 << 20;     // size of the numbers of one sum
  bool cold = true;                // sums cycle through four times the L2 cache; else always the same numbers
  int ordinal = 0;                 // the GPU, as CUDA counts
  std::optional<reading> asked{};  // how blocks read; nothing: best_reading()
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
