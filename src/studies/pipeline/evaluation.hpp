// What the measured rows say of the model: how far predictions are off, which tile it would have chosen, and
// whether measured timelines are what was simulated. Pure functions of rows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/studies/pipeline/calibration.hpp"
#include "src/studies/pipeline/simulator.hpp"

namespace mgsync::pipeline {

// Predictions against measurements, in percent of what was measured.
struct error_summary {
  std::size_t count = 0;
  double mean_percent = 0;  // of the absolute errors
  double max_percent = 0;
  std::vector<std::size_t>
      histogram;  // of signed errors: bins of 2 % from -20 %, the ends hold what lies beyond
};
inline constexpr double histogram_from = -20, histogram_bin = 2;
inline constexpr std::size_t histogram_bins = 20;
error_summary summarize_errors(std::span<const std::pair<double, double>> predicted_and_measured);

// One whole product's time in ns. `profile` is of the row's own instance.
double simulated_ns(const product_row&, const tile_profile&, int sms);
// The second model: launch + first load + sum over waves of max(DMA, math, epilogue) + last epilogue.
double max_model_ns(const product_row&, const tile_profile&, int sms);
// What the empty launch of this row took, to be subtracted as the paper does.
double launch_ns(const product_row&, const tile_profile&, int sms);

// The model's best tile against the best measured, per size of the grid.
struct tile_choice_summary {
  std::size_t sizes = 0;
  std::size_t within_5_percent = 0;
  double worst_percent = 0;  // how much slower the model's choice was than the best
  double mean_percent = 0;
};
using row_prediction = std::function<double(const product_row&)>;
tile_choice_summary choices_of(std::span<const product_row> grid, const row_prediction&);

// The synthetic kernel: costs fitted on the calibration rows, errors over the held-out ones; by semaphore,
// and all.
struct synthetic_summary {
  std::string semaphore;
  semaphore_costs costs;
  error_summary held_out;
};
std::vector<synthetic_summary> evaluate_synthetic(std::span<const synthetic_row>);

// A measured timeline as activities, ready for violations(): a load ends before it is handed over, and so on.
std::vector<activity> activities_of(std::span<const stamp_row> one_timeline);

// What is wrong with the stages of one recorded run, one sentence each.
std::vector<std::string> violations_of(std::span<const stamp_row> one_timeline);

// Whether calibration never saw the row.
bool is_held_out(const product_row&);

// What was measured on one machine; any part may be empty.
struct measured_study {
  machine_facts facts;
  std::vector<product_row> products;
  std::vector<synthetic_row> synthetic;
  std::vector<stamp_row> stamps;
};

}  // namespace mgsync::pipeline
