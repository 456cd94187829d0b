// The time of a persistent block's output tiles without simulating them: some forty small matrix products
// however many stages there are, with exactly the simulator's result.
#pragma once

#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

struct time_of_tiles {
  ticks total = 0;    // from the first load to the end of the last epilogue
  ticks waiting = 0;  // time that the consumers wait
  bool operator==(const time_of_tiles&) const = default;
};

// Computes the recurrences (1) to (3) of the paper, with loads in flight and semaphores, over all output
// tiles. Each event is the latest of some earlier ones plus a constant, which is linear in the (max, +)
// algebra. So a tile is a power of one stage's matrix, and all tiles are a power of one tile's, both computed
// by squaring. Producers go on with the next output tile without waiting. std::invalid_argument unless there
// are at least one tile, stage and buffer, and at most 12 buffers.
time_of_tiles persistent_time(const sm_work&, const arrangement&);

}  // namespace mgsync::pipeline
