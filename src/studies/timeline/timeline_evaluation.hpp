// What recorded rounds say, in words, tables and figures, and what the recorder costs. Pure.
#pragma once

#include <optional>
#include <span>

#include "src/results/comparison/shift_interval.hpp"
#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::timelines {

// The relative increase of the time of a round through the recorder; from points that differ in nothing else.
struct recorder_cost {
  double without_us = 0, with_us = 0;
  shift_interval relative;  // 0.05: a round takes 5 % longer

  // Too few batches give no 95 % interval, and then nothing is concluded.
  bool is_decidable() const { return relative.confidence >= 0.95; }
};
std::optional<recorder_cost> cost_of_recorder(std::span<const result>, const result& recorded);

// Up to this relative change, in either direction, the recorder is said not to affect a barrier's latency.
inline constexpr double small_shift = 0.05;

// Evaluates recorded results of the study: a timeline of their rounds, who came last and what this cost the
// others, and a sentence on what the recorder costs.
evaluation evaluate(std::span<const result>);

// Adds a table of all instructions beside published values and beside what an unchecked probe would have
// measured; curves of the instructions that are measured over ways or warps; and a table of the pairs.
void add_instructions(std::span<const result>, evaluation&);

}  // namespace mgsync::timelines
