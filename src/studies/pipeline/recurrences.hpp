// What a persistent block's output tiles take, without simulating them: however many stages there are, in the
// time of some forty small matrix products, to the tick what the simulator says.
#pragma once

#include "src/studies/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

struct time_of_tiles {
  ticks total = 0;    // from the first load to the end of the last epilogue
  ticks waiting = 0;  // of the consumers
  bool operator==(const time_of_tiles&) const = default;
};

// The recurrences (1) to (3) of the paper, with loads in flight and semaphores, carried on over the output
// tiles. Each event is the latest of some earlier ones plus a constant: linear where adding is "the later of"
// and multiplying is adding, so that many stages are a power of one stage's matrix, and many output tiles a
// power of one tile's. Both are raised by squaring. Producers go on with the next output tile; needs at least
// one tile, stage and buffer, and at most 12 buffers (std::invalid_argument).
time_of_tiles persistent_time(const sm_work&, const arrangement&);

}  // namespace mgsync::pipeline
