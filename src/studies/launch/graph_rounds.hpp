// Rounds of kernels in one CUDA graph, where each kernel waits for all of the round before: whether it is the
// edges of a node, those that come from other GPUs, or the GPUs that cost.
#pragma once

#include <memory>
#include <vector>

#include "src/studies/launch/launches.hpp"

namespace mgsync::launch {

inline constexpr unsigned rounds_of_graph = 128;

struct graph_rounds {
  std::vector<int> gpus;  // CUDA ordinals; the kernels of a round take turns on them
  unsigned kernels = 1;   // in a round
  bool joined = false;    // through one empty node between two rounds
};

// Runs launch the graph of empty kernels once ("total_us"). Checking runs launch one whose kernels count:
// each must find all of the round before counted; with a fault nobody waits for anybody.
creation make_graph_rounds(const graph_rounds&);

}  // namespace mgsync::launch
