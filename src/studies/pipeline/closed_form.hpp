// The model's time without simulating it: an independent check of the simulator, and what a search over
// thousands of configurations evaluates.
#pragma once

#include "src/studies/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

// From the start of a wave to the end of its last multiplying (the paper's c_S + t_C). The longest path
// through the recurrences (1) to (3): with one stage's own times a path either stays with whichever agent is
// slowest, or goes round the loop load -> multiply -> free buffer as often as the buffers allow, so only the
// two extremes count. With loads that are complete when their engine is free, d = t_A + t_B (one producer) or
// max(t_A, t_B) (two) and free semaphores this is S (d + t_C) for one buffer and d + t_C + (S - 1) max(d,
// t_C) for more.
ticks wave_time(const stage_times&, int stages, const arrangement&);

// What repeats from stage to stage in a long wave: max(d, t_C, (latency + t_C) / buffers), in ticks, not
// rounded.
double steady_period(const stage_times&, const arrangement&);

// All of one SM's output tiles, an epilogue each (a persistent arrangement has no closed form:
// std::invalid_argument). With two consumers an epilogue is hidden behind the next tile, as far as it is no
// longer than that.
ticks waves_time(const sm_work&, const arrangement&);

// For how long the consumers wait in all of that.
ticks waves_waiting(const sm_work&, const arrangement&);

}  // namespace mgsync::pipeline
