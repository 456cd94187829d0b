// What recorded rounds say, in words, tables and pictures, and what the recorder costs. Pure.
#pragma once

#include <optional>
#include <span>

#include "src/results/figure.hpp"
#include "src/results/result.hpp"
#include "src/results/shift_interval.hpp"

namespace mgsync::timelines {

// How much longer a round takes with the recorder than without it, relative to that; of points that differ in
// nothing else.
struct recorder_cost {
  double without_us = 0, with_us = 0;
  shift_interval relative;  // 0.05: a twentieth longer

  // Of fewer batches there is no interval of 95 %, and nothing is concluded.
  bool is_decidable() const { return relative.confidence >= 0.95; }
};
std::optional<recorder_cost> cost_of_recorder(std::span<const result>, const result& recorded);

// Up to this much, either way, the recorder leaves a barrier's latency as it is.
inline constexpr double small_shift = 0.05;

// Of recorded results (study timeline): a picture of their rounds, who came last and what it cost the others;
// a sentence for what the recorder costs.
evaluation evaluate(std::span<const result>);

}  // namespace mgsync::timelines
