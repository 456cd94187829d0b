// Results of this study as values by family and shape, how two runs compare, and what the values mean: the
// papers' tables with this GPU beside V100 and P100, the block barrier as a line over warps, throughput over
// warps per SM, and expectations. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"
#include "src/studies/levels/level_values.hpp"

namespace mgsync::levels {

// What is known of the GPU besides the measured values.
struct this_gpu {
  std::string name = "this GPU";
  double mhz = 0;  // the SM's clock, measured in the same run; 0: unknown
  std::map<std::string, std::string, std::less<>> not_checked;   // by family: what the code check found wrong
  std::map<std::string, std::string, std::less<>> not_measured;  // by family: why a point has no value
};

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

// In the order of the study's levels.
expectations expectations_of(std::span<const level_value>, const this_gpu&);

// The expectations as a table (those of `further` after those of the values); table II of 000 and tables 2,
// 4, 5 and 7 of 001; values by both clocks; all levels in one table; figure 4 of 000 and figure 6 of 001.
// Sentences tell how many expectations hold, and which do not: where a value is checked and repeats, that is
// a finding.
evaluation evaluate(std::span<const level_value>, const this_gpu&, std::span<const expectation> further = {});

// Figure 4 of 000 and figure 6 of 001; and over how many repeats a link has its latency.
void add_figures(std::span<const level_value>, const this_gpu&, evaluation&);
void add_repeats(std::span<const result>, evaluation&);

// Whether the value is of a group of some lanes of a warp; these stand in a table by themselves.
bool is_part_of_warp(const level_value&);
// A row for each number of lanes, adjacent equal rows merged: values for that many of the lowest lanes, and
// for as many drawn at random. No rows where none was measured.
table table_of_lanes(std::span<const level_value>);

}  // namespace mgsync::levels
