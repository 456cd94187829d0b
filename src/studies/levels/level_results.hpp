// Results of this study in the form that its evaluation takes: values by family and shape, and how two runs
// compare. Pure.
#pragma once

#include <span>
#include <vector>

#include "src/results/values/result.hpp"
#include "src/studies/levels/level_evaluation.hpp"

namespace mgsync::levels {

// What one run of the study measured; nothing where the results hold none of it.
struct measured_run {
  std::vector<level_value> values;
  this_gpu gpu;
};
measured_run run_of(std::span<const result>, unsigned run);

// The runs that the results hold values of, in ascending order.
std::vector<unsigned> runs_in(std::span<const result>);

// How well the second run repeats the first: the modes of the samples, and the slopes. Only probes whose code
// was checked.
struct repetition {
  mgsync::expectations expectations;  // by kind of probe
  table apart;                        // the points that differ
};
repetition compare_runs(std::span<const result>, unsigned first, unsigned second);

// Compares points that were measured twice, once with something left to chance (level_probe::left_free); no
// rows where there are none.
table table_of_chance(std::span<const result>);

}  // namespace mgsync::levels
