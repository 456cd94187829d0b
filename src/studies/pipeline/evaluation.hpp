// Compares the model with measured rows: how far predictions are off, which tile it would have chosen, and
// whether measured timelines match the simulated ones. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/models/pipeline/simulator.hpp"
#include "src/studies/pipeline/calibration.hpp"
#include "src/studies/pipeline/gemm_instances.hpp"

namespace mgsync::pipeline {

// Errors of predictions, in percent of the measured time.
struct error_summary {
  std::size_t count = 0;
  double mean_percent = 0;  // mean of the absolute errors
  double max_percent = 0;
  std::vector<std::size_t>
      histogram;  // of signed errors: bins of 2 % from -20 %, the ends hold what lies beyond
};
inline constexpr double histogram_from = -20, histogram_bin = 2;
inline constexpr std::size_t histogram_bins = 20;
error_summary summarize_errors(std::span<const std::pair<double, double>> predicted_and_measured);

// The simulated time of a whole product in ns. `profile` must be of the row's own kernel instance.
double simulated_ns(const product_row&, const tile_profile&, int sms);
// The time in ns by the second model: launch + first load + sum over waves of max(DMA, math, epilogue) + last
// epilogue.
double max_model_ns(const product_row&, const tile_profile&, int sms);

// The tile that the model chooses beside the one that measured best, for each size of the grid.
struct tile_choice_summary {
  std::size_t sizes = 0;
  std::size_t within_5_percent = 0;
  double worst_percent = 0;  // how much slower the model's choice is than the best tile
  double mean_percent = 0, median_percent = 0, ninety_percent = 0;
  std::string tile{};  // of fixed_choice_of
};
// Of how many percent each choice is slower than the best one.
tile_choice_summary summarize_choices(std::vector<double> percent_slower);
using row_prediction = std::function<double(const product_row&)>;
tile_choice_summary choices_of(std::span<const product_row> grid, const row_prediction&);
// The same for the one tile that, taken for every size, costs the least in the mean.
tile_choice_summary fixed_choice_of(std::span<const product_row> grid);

// The synthetic kernel: the costs fitted to the calibration rows, and the errors over the held-out rows, by
// semaphore and over all.
struct synthetic_summary {
  std::string semaphore;
  semaphore_costs costs;
  error_summary held_out;
  bool query_shows = true;  // whether any time of the model depends on `query`
};
std::vector<synthetic_summary> evaluate_synthetic(std::span<const synthetic_row>);

// The activities of a measured timeline, in the form that violations() takes: a load ends before it is handed
// over, and so on.
std::vector<activity> activities_of(std::span<const stamp_row> one_timeline);

// The violations in the stages of one recorded run, one sentence each.
std::vector<std::string> violations_of(std::span<const stamp_row> one_timeline);

// The same profile with the registers that the kernel's threads have.
tile_profile with_registers(tile_profile, const gemm_family&);

// How far the model is off for each kernel, by the largest side of the products: to 1024, 3072 and 16384.
struct measured_study;
std::vector<known_error> known_errors(const measured_study&);

// Whether the row was not used in calibration.
bool is_held_out(const product_row&);

// What was measured on one machine; any part may be empty.
struct measured_study {
  machine_facts facts;
  std::vector<product_row> products;
  std::vector<synthetic_row> synthetic;
  std::vector<stamp_row> stamps;
  std::vector<recorded_row> recorded;  // of one product
};

}  // namespace mgsync::pipeline
