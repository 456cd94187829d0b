// The model's time without simulating it: an independent check of the simulator, and what a search over
// thousands of configurations evaluates.
#pragma once

#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

// The time of a wave from its start to the end of its last multiplication (the paper's c_S + t_C), which is
// the longest path through the recurrences (1) to (3). As all stages take the same times, a path either stays
// with the slowest agent, or goes round the loop load -> multiply -> free buffer as often as the buffers
// allow, so only these two extremes count. With loads that are complete when their engine is free, d = t_A +
// t_B (one producer) or max(t_A, t_B) (two) and free semaphores this is S (d + t_C) for one buffer and d +
// t_C + (S - 1) max(d, t_C) for more.
ticks wave_time(const stage_times&, int stages, const arrangement&);

// The period of a long wave: max(d, t_C, (latency + t_C) / buffers), in ticks, not rounded.
double steady_period(const stage_times&, const arrangement&);

// The time of all of one SM's output tiles with an epilogue each. With two consumers an epilogue is hidden
// behind the next tile, unless it takes longer than that. std::invalid_argument for a persistent arrangement,
// which has no closed form.
ticks waves_time(const sm_work&, const arrangement&);

// How long the consumers wait within waves_time().
ticks waves_waiting(const sm_work&, const arrangement&);

}  // namespace mgsync::pipeline
