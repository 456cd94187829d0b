// Computes the model's parameters from measured rows: lines by least squares (paper 003, eqs. 4 to 7), the
// times of each measured tile, and what the synthetic kernel's semaphores cost.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "src/models/pipeline/machine.hpp"
#include "src/models/pipeline/measured_tile.hpp"
#include "src/studies/pipeline/measured_rows.hpp"

namespace mgsync::pipeline {

struct work_and_time {
  double work = 0;
  double ns = 0;
};

// A line fitted by least squares of relative errors; through two points it is eqs. 4 and 5 (6 and 7). A
// startup below 0 becomes 0, which the paper calls "negligible". std::invalid_argument with fewer than two
// different amounts of work.
struct line_fit {
  cost_line line;
  double mean_error_percent = 0;  // mean absolute error over the points
  double max_error_percent = 0;
};
line_fit fit_line(std::span<const work_and_time>);

// Profiles by (family, instance, producers), from the rows for calibration alone: products that are to be
// predicted are not used.
using profile_key = std::tuple<std::string, int, int>;
std::map<profile_key, tile_profile> profiles_of(std::span<const product_row>, int sms);

// The paper's form of a machine: one line each over the given tiles for loads (in bytes), multiplying (in
// multiply-adds or bytes, whichever fits better) and epilogue; the other parameters are medians over the
// tiles. std::invalid_argument with fewer than two tiles.
struct machine_fit {
  machine on;
  line_fit load, math_by_bytes, math_by_multiply_adds, epilogue;
  std::size_t tiles = 0;
};
machine_fit fit_machine(std::span<const tile_profile>, const machine_facts&);

// What the semaphores of the synthetic kernel cost, in cycles.
struct semaphore_costs {
  double item = 0;      // by how much a timed wait exceeds what was asked for
  double query = 0;     // between two stages of one agent
  double handover = 0;  // from a signal until the agent that waits for it goes on
  double start = 0;     // once per run
};
double predicted_cycles(const synthetic_row&, const semaphore_costs&);
// The costs that fit the rows best: least squares of relative errors, by coordinate descent.
semaphore_costs fit_semaphores(std::span<const synthetic_row>);

}  // namespace mgsync::pipeline
