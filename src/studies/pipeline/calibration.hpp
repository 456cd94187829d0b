// Computes the model's parameters from measured rows: lines by least squares (paper 003, eqs. 4 to 7), the
// times of each measured tile, and what the synthetic kernel's semaphores cost.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "src/models/pipeline/machine.hpp"
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

// A time as a function of how many SMs are busy: linear between the measured numbers of SMs, constant beyond
// them.
class by_active {
 public:
  void add(double active, double ns) { points_[active] = ns; }
  bool empty() const { return points_.empty(); }
  double at(double active) const;

 private:
  std::map<double, double> points_;
};

// What was measured of one instance of a kernel, in ns, as functions of the number of busy SMs.
struct tile_profile {
  std::string family;
  int instance = 0;
  int producers = 1;
  extent tile;
  int consumers = 1;
  int math_warps = 4;
  by_active launch;  // an empty launch, its semaphores included
  by_active load;    // loading one stage, in steady state with many buffers
  by_active math;    // multiplying one stage
  by_active both;   // one stage, with as many buffers as fit: shows how loads and multiplying slow each other
  by_active round;  // one stage with one buffer: load, multiply, and both handovers
  by_active first;  // what a block's first stage takes beyond its load's latency
  by_active late_both,
      late_round;    // the same two of the stages beyond the 16th: long rows of A and B leave the L2 cache
  by_active second;  // what the second stage takes beyond those after it: copies start cold
  by_active second_alone;  // the same with one buffer
  by_active epilogue;      // after a block's last output tile, until its stores are done
  by_active store_alone;   // of a launch that does nothing but store a tile in each block, C as wide as for
                           // `epilogue`
  std::map<int, by_active> store_by_width;  // the same by the width of C: how far apart its rows are decides
                                            // how fast memory takes them
  double store_ns =
      0;  // of an output tile where a persistent block does nothing but store: what memory takes
  by_active next_tile, later_tile;  // of a persistent block's second output tile, beyond its stages, and of
                                    // each after it; by stages, in place of SMs
  by_active next_wave, later_wave;  // the same where each output tile has its own block
};

// Profiles by (family, instance, producers), from the rows for calibration alone: products that are to be
// predicted are not used.
using profile_key = std::tuple<std::string, int, int>;
std::map<profile_key, tile_profile> profiles_of(std::span<const product_row>, int sms);

// By how many ns an epilogue takes longer with C of this width than with the width that the profile was
// measured with.
double width_shift_ns(const tile_profile&, int width, double active);

// The mean time of a stage in ns over that many stages: `early` up to the 16th, and `late` beyond where it
// was measured.
double mean_stage_ns(const by_active& early, const by_active& late, double active, int stages);

// The stage times that the profile gives the simulator while `active` SMs are busy.
stage_times times_of(const tile_profile&, double active, int buffers, int stages);

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
