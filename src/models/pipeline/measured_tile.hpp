// What was measured of a compiled kernel with one tile, and how long whole products take with it. More exact
// than a machine's lines (machine.hpp), and for no other tile.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "src/base/fields.hpp"
#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync {
class json_text;
}

namespace mgsync::pipeline {

// A time as a function of how many SMs are busy: linear between the measured numbers of SMs, constant beyond
// them.
class by_active {
 public:
  void add(double active, double ns);
  bool empty() const { return points_.empty(); }
  double at(double active) const;
  by_active rounded() const;  // to a thousandth of a ns, as in files
  bool operator==(const by_active&) const = default;

  struct measured_point {
    double active = 0, ns = 0;
    bool operator==(const measured_point&) const = default;
  };
  friend auto bare(by_active& all) { return as_rows{all.points_}; }

 private:
  std::vector<measured_point> points_;  // by rising `active`
};
// Differences of times may be negative, unlike the other numbers of a machine file.
nlohmann::ordered_json signed_told(double ns);
double signed_taken(const nlohmann::ordered_json&, json_text& place);
void fields(auto& way, by_active::measured_point& p) {
  way.needs("active", p.active);
  way.needs("ns", told_as{p.ns, signed_told, signed_taken});
}

// A time that depends on the width of C too: how far apart its rows are decides how fast memory takes them.
struct width_times {
  int width = 0;
  by_active ns;
  bool operator==(const width_times&) const = default;
};
void fields(auto& way, width_times& w) {
  way.needs("width", w.width);
  way.needs("ns", w.ns);
}

// How long a stage takes whose rows of A and B begin at multiples of no more than so many bytes: copies of
// rows that begin inside a sector, or a line, of the L2 cache are slower. And with output tiles enough that
// A, B and C leave the cache.
struct row_start_times {
  int bytes = 128;    // 16, 32, 64, or 128: whole lines
  by_active stage;    // with one output tile to an SM, by the number of SMs; empty for whole lines
  by_active of_many;  // with several, on all SMs, by the megabytes of A, B and C
  bool operator==(const row_start_times&) const = default;
};
void fields(auto& way, row_start_times& r) {
  way.needs("bytes", r.bytes);
  way.needs("stage", r.stage);
  way.needs("of_many", r.of_many);
}
// N and K as the kernels take them: bulk copies need rows that begin at multiples of 16 bytes, so a side is
// padded to a multiple of 8.
int aligned_side(int side);
// The largest power of two, from 16 to 128, at whose multiples each row of k halves begins, k padded as
// above.
int row_start_bytes(int k);
// Of A, B and C, and of A and B alone.
double megabytes_of(extent size);
double loaded_megabytes_of(extent size);

// What was measured of one instance of a kernel, in ns, as functions of the number of busy SMs.
struct tile_profile {
  std::string family;
  int instance = 0;
  int producers = 1;
  extent tile;
  int consumers = 1;
  int math_warps = 4;          // of each consumer
  int registers = 0;           // that a consumer's thread may use; 0: unknown
  int producer_registers = 0;  // what setmaxnreg leaves a producer's thread; 0: registers are not traded
  int spilled_bytes = 0;       // of a thread, to memory
  by_active launch;            // an empty launch, its semaphores included
  by_active load;              // loading one stage, in steady state with many buffers
  by_active math;              // multiplying one stage
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
  std::vector<width_times> store_by_width;  // the same by the width of C
  double store_ns =
      0;  // of an output tile where a persistent block does nothing but store: what memory takes
  by_active next_tile, later_tile;  // of a persistent block's second output tile, beyond its stages, and of
                                    // each after it; by stages, in place of SMs
  by_active next_wave, later_wave;  // the same where each output tile has its own block
  by_active wide_tile;  // as `later_tile`, of those after the fourth: more of C than the L2 cache takes
  std::vector<row_start_times> row_starts;
  by_active unshared;  // what a megabyte of A and B takes that one SM alone reads; by the megabytes of A, B
                       // and C, in place of SMs
  bool operator==(const tile_profile&) const = default;
};

// Names each of the profile's times.
void each_time(auto&& of, auto& p) {
  of("launch", p.launch);
  of("load", p.load);
  of("math", p.math);
  of("both", p.both);
  of("round", p.round);
  of("first", p.first);
  of("late_both", p.late_both);
  of("late_round", p.late_round);
  of("second", p.second);
  of("second_alone", p.second_alone);
  of("epilogue", p.epilogue);
  of("store_alone", p.store_alone);
  of("next_tile", p.next_tile);
  of("later_tile", p.later_tile);
  of("next_wave", p.next_wave);
  of("later_wave", p.later_wave);
}

void fields(auto& way, tile_profile& p) {
  way.needs("kernel", p.family);
  way.needs("instance", p.instance);
  way.needs("m", p.tile.m);
  way.needs("n", p.tile.n);
  way.needs("k", p.tile.k);
  way.needs("producers", p.producers);
  way.needs("consumers", p.consumers);
  way.needs("math_warps", p.math_warps);
  way.may("registers", p.registers);
  way.may("producer_registers", p.producer_registers);
  way.may("spilled_bytes", p.spilled_bytes);
  each_time([&way](const char* name, by_active& times) { way.needs(name, times); }, p);
  way.needs("store_by_width", p.store_by_width);
  way.needs("store_ns", p.store_ns);
  way("wide_tile", p.wide_tile);
  way("row_starts", p.row_starts);
  way("unshared", p.unshared);
}
tile_profile rounded(tile_profile);

// What a thread of a consumer holds of C, in registers of 4 bytes.
int accumulators(const tile_profile&);
// Why an SM's registers do not suffice for the kernel, a clause; empty: they do.
std::string lacks_registers(const tile_profile&);

// How a kernel is launched for a product: with how many buffers, and how many blocks; fewer than output
// tiles: they stay for several.
struct launch_form {
  int buffers = 1;
  std::int64_t blocks = 1;
};
// As many blocks as output tiles, and at most one to an SM.
launch_form staying(extent size, extent tile, int sms, int buffers);

// The time of a whole product in ns, and what it is made of; the parts add up to it.
struct product_time {
  double total = 0;
  double launch = 0;   // what a launch takes that does nothing
  double filling = 0;  // what the first stage takes beyond one in the middle
  double stages = 0;   // all stages of the most loaded SM
  double ends = 0;     // stores, and whatever else goes from one output tile to the next
};
product_time time_with(const tile_profile&, extent size, const launch_form&, int sms);

// The work of the most loaded SM, as the simulator takes it: every output tile but the first and the last
// alike.
sm_work work_with(const tile_profile&, extent size, const launch_form&, int sms);

// The time of an empty launch for such a product.
double launch_ns(const tile_profile&, extent size, int sms);

// By how many ns an epilogue takes longer with C of this width than with the width that the profile was
// measured with.
double width_shift_ns(const tile_profile&, int width, double active);

// The mean time of a stage in ns over that many stages: `early` up to the 16th, and `late` beyond where it
// was measured.
double mean_stage_ns(const by_active& early, const by_active& late, double active, int stages);

// The mean time of a stage of such a product while `active` SMs are busy, with buffers enough.
double stage_ns(const tile_profile&, extent size, double active, int sms);

// The stage times that the profile gives the simulator.
stage_times times_of(const tile_profile&, extent size, double active, int sms, int buffers);

// The share of an output tile that is stored, below 1 where the product is smaller than the tile. The columns
// do not count where the epilogue was measured with C of this width, since that includes them.
double stored_share(const tile_profile&, extent size);

// How far predictions of one kernel were off for products whose largest side is at most `largest_side`, and
// above that of the kind before: products that the model never saw.
struct known_error {
  std::string kernel;
  int producers = 1;
  int largest_side = 0;
  int products = 0;
  double mean_percent = 0;
  double ninety_percent = 0;  // 90 % of them were off by at most this
  double largest_percent = 0;
  bool operator==(const known_error&) const = default;
};
void fields(auto& way, known_error& e) {
  way.needs("kernel", e.kernel);
  way.needs("producers", e.producers);
  way.needs("largest_side", e.largest_side);
  way.needs("products", e.products);
  way.needs("mean_percent", e.mean_percent);
  way.needs("ninety_percent", e.ninety_percent);
  way.needs("largest_percent", e.largest_percent);
}

}  // namespace mgsync::pipeline
