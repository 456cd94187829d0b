// Results of this study as its evaluation takes them: figures by family and shape, and how two runs compare.
// Pure.
#pragma once

#include <span>
#include <vector>

#include "src/results/result.hpp"
#include "src/studies/levels/level_evaluation.hpp"

namespace mgsync::levels {

// What one run of the study measured; nothing where the results hold none of it.
struct measured_run {
  std::vector<level_value> values;
  this_gpu gpu;
};
measured_run run_of(std::span<const result>, unsigned run);

// The runs that the results hold figures of, in order.
std::vector<unsigned> runs_in(std::span<const result>);

// How far the second run repeats the first: the modes of the raw samples, and the slopes. Code-checked probes
// only.
struct repetition {
  mgsync::expectations expectations;  // by kind of probe
  table apart;                        // the points that differ
};
repetition compare_runs(std::span<const result>, unsigned first, unsigned second);

// What was measured twice, once with something left to chance; no rows where nothing was.
table table_of_chance(std::span<const result>);

}  // namespace mgsync::levels
