// Simulates producers, consumers and the circular buffer of one SM event by event, and checks what came out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

enum class activity_kind { load_a, load_b, math, epilogue };

// Something that took time. `stage` counts from 0 within the output tile. A load ends when its data can be
// used; its engine is free again at `released`.
struct activity {
  activity_kind kind = activity_kind::math;
  int agent = 0;  // which producer, or which consumer
  int tile = 0;
  int stage = 0;
  ticks begin = 0;
  ticks end = 0;
  ticks released = 0;
  bool operator==(const activity&) const = default;
};

// Faults planted in the simulation: positive controls of violations().
enum class fault { none, producer_never_waits, consumer_never_waits };

struct simulation {
  ticks total = 0;                   // from the first load to the end of the last epilogue
  ticks waiting = 0;                 // of the consumers, for data or for each other (the paper's second goal)
  int most_in_flight = 0;            // tiles in the buffer at once: loading, loaded or being multiplied
  std::vector<activity> activities;  // in the order of their beginning
  std::vector<std::string>
      violations;  // of what must hold in every run; empty unless the simulator is broken
};

// Simulates the output tiles of one SM, each with one entry of `tiles` (in the last wave fewer SMs may be
// busy) and `stages` stages. std::invalid_argument unless there are at least one tile, stage and buffer, at
// most 2^24 stages in all, and latency >= issue.
simulation simulate(std::span<const stage_times> tiles, int stages, const arrangement&, fault = fault::none);

// The violations among these activities, one sentence each: more tiles in flight than buffers, data used
// before it was there, a buffer overwritten before it was read, two activities at a time on one engine,
// something missing or done twice.
std::vector<std::string> violations(std::span<const activity>, int tiles, int stages, const arrangement&);

// The activities as a timeline with a track for each producer and consumer; times are ticks divided by
// `ticks_per_unit`.
timeline to_timeline(std::span<const activity>, double ticks_per_unit);

}  // namespace mgsync::pipeline
