// From measured rows to the model's parameters: lines by least squares (paper 003, eqs. 4 to 7), the times of
// each measured tile, and what the synthetic kernel's semaphores cost.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "src/studies/pipeline/machine.hpp"
#include "src/studies/pipeline/measured_rows.hpp"

namespace mgsync::pipeline {

struct work_and_time {
  double work = 0;
  double ns = 0;
};

// Least squares of relative errors; through two points it is eqs. 4 and 5 (6 and 7). A startup below 0
// becomes 0, as the paper's "negligible". Needs two different amounts of work: std::invalid_argument
// otherwise.
struct line_fit {
  cost_line line;
  double mean_error_percent = 0;  // of the points, absolute
  double max_error_percent = 0;
};
line_fit fit_line(std::span<const work_and_time>);

// A time that depends on how many SMs are busy: straight lines between the measured numbers, constant beyond
// them.
class by_active {
 public:
  void add(double active, double ns) { points_[active] = ns; }
  bool empty() const { return points_.empty(); }
  double at(double active) const;

 private:
  std::map<double, double> points_;
};

// What was measured of one instance of a kernel, in ns.
struct tile_profile {
  std::string family;
  int instance = 0;
  int producers = 1;
  extent tile;
  int consumers = 1;
  int math_warps = 4;
  by_active launch;  // an empty launch, its semaphores included
  by_active load;    // of one stage, from stage to stage, many buffers
  by_active math;    // of one stage
  by_active
      both;  // of one stage, as many buffers as fit: what loads and multiplying do to each other shows here
  by_active round;  // of one stage with one buffer: load, multiply, and both handovers
  by_active first;  // what the first stage of a block takes longer than its load's latency
  by_active late_both,
      late_round;    // the same two of the stages beyond the 16th: long rows of A and B leave the L2 cache
  by_active second;  // what the second one takes longer than those after it: copies start cold
  by_active second_alone;  // the same with one buffer
  by_active epilogue;      // of a block's last output tile, until its stores are done
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

// (family, instance, producers) -> profile, from the rows for calibration alone: no product of the grid is
// looked at.
using profile_key = std::tuple<std::string, int, int>;
std::map<profile_key, tile_profile> profiles_of(std::span<const product_row>, int sms);

// How much longer an epilogue takes where C has this many columns than where the profile's was measured.
double width_shift_ns(const tile_profile&, int width, double active);

// One stage's time in the mean over so many: `early` up to the 16th, `late` beyond, where that was measured.
double mean_stage_ns(const by_active& early, const by_active& late, double active, int stages);

// The stage times that a profile gives the simulator while `active` SMs are busy.
stage_times times_of(const tile_profile&, double active, int buffers, int stages);

// The paper's machine: one line each for loads (bytes), multiplying (multiply-adds and bytes, whichever fits
// better) and epilogue over the given tiles, the rest as the median of them. Needs two tiles:
// std::invalid_argument otherwise.
struct machine_fit {
  machine on;
  line_fit load, math_by_bytes, math_by_multiply_adds, epilogue;
  std::size_t tiles = 0;
};
machine_fit fit_machine(std::span<const tile_profile>, const machine_facts&);

// Semaphores of the synthetic kernel, in cycles.
struct semaphore_costs {
  double item = 0;      // what a wait lasts longer than asked for
  double query = 0;     // between two stages of one agent
  double handover = 0;  // from a signal to who waited for it
  double start = 0;     // once
};
double predicted_cycles(const synthetic_row&, const semaphore_costs&);
// The costs that fit the rows best (least squares of relative errors, coordinate by coordinate until nothing
// improves).
semaphore_costs fit_semaphores(std::span<const synthetic_row>);

}  // namespace mgsync::pipeline
