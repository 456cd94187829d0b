#include "src/studies/pipeline/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "src/models/pipeline/closed_form.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::pipeline {

namespace {

constexpr int early_stages = 16;
constexpr double fine = 1000;  // ticks per cycle or ns during fitting

// Rounds a number to a thousandth of its unit, as it is written to a file.
double rounded(double value) { return std::round(value * 1000) / 1000; }
cost_line rounded(const cost_line& line) { return {rounded(line.startup_ns), rounded(line.per_ns)}; }

ticks of_cycles(double value) { return std::llround(std::max(0.0, value) * fine); }

// The rows of one kernel instance, found by what they measured.
class rows_of_instance {
 public:
  explicit rows_of_instance(std::vector<const product_row*> rows) : rows_(std::move(rows)) {
    for (const product_row* r : rows_)
      most_buffers_ = std::max(most_buffers_, r->set == "stage" ? r->buffers : 0);
  }

  int most_buffers() const { return most_buffers_; }
  const product_row& any() const { return *rows_.front(); }

  // ns by depth of the "stage" rows
  std::map<int, double> stages(bool loads, bool math, int buffers, int blocks) const {
    std::map<int, double> found;
    for (const product_row* r : rows_)
      if (r->set == "stage" && r->loads == loads && r->math == math && r->buffers == buffers &&
          r->blocks == blocks)
        found[pipeline::stages(r->size, r->tile)] = r->median_ns;
    return found;
  }
  static double slope(const std::map<int, double>& of) {
    if (of.size() < 2) throw std::invalid_argument("a slope needs two depths");
    const auto& [first, early] = *of.begin();
    const auto& [last, late] = *of.rbegin();
    return (late - early) / (last - first);
  }
  // The slope over stages like those of the products to be predicted. The first stages are no steady state,
  // and with more than 16 the rows of A and B are so long that they leave the L2 cache, which changes the
  // loads.
  static double stage_slope(std::map<int, double> of) {
    std::erase_if(of, [](const auto& one) { return one.first < 4 || one.first > early_stages; });
    return slope(of);
  }
  static std::optional<double> late_slope(std::map<int, double> of) {
    std::erase_if(of, [](const auto& one) { return one.first < early_stages; });
    return of.size() < 2 ? std::nullopt : std::optional(slope(of));
  }
  // The numbers of blocks for which there are rows of loads alone.
  std::vector<int> block_counts() const {
    std::vector<int> counts;
    for (const product_row* r : rows_)
      if (r->set == "stage" && r->loads && !r->math && r->buffers == most_buffers_)
        counts.push_back(r->blocks);
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
  }
  template <class Visit>
  void each(const char* set, Visit visit) const {
    for (const product_row* r : rows_)
      if (r->set == set) visit(*r);
  }

 private:
  std::vector<const product_row*> rows_;
  int most_buffers_ = 0;
};

tile_profile profile_of(const rows_of_instance& rows, int sms) {
  const product_row& any = rows.any();
  tile_profile p;
  p.family = any.family;
  p.instance = any.instance;
  p.producers = any.producers;
  p.tile = any.tile;
  p.consumers = any.consumers;
  p.math_warps = any.math_warps;
  const int most = rows.most_buffers(), some = std::min(4, most);
  rows.each("launch", [&](const product_row& r) { p.launch.add(r.blocks, r.median_ns); });
  for (const int blocks : rows.block_counts())
    p.load.add(blocks, rows.stage_slope(rows.stages(true, false, most, blocks)));
  for (const int blocks : {1, sms})
    p.math.add(blocks, rows.stage_slope(rows.stages(false, true, some, blocks)));
  for (const int blocks : rows.block_counts()) {
    const auto whole = rows.stages(true, true, most, blocks);
    if (whole.empty()) continue;
    const auto alone = rows.stages(true, true, 1, blocks);
    const double period = rows.stage_slope(whole), round = rows.stage_slope(alone);
    p.both.add(blocks, period);
    p.round.add(blocks, round);
    if (const auto late = rows.late_slope(whole)) p.late_both.add(blocks, *late);
    if (const auto late = rows.late_slope(alone)) p.late_round.add(blocks, *late);
    const auto& [depth, ns] = *whole.begin();
    p.first.add(blocks, ns - p.launch.at(blocks) - (depth - 1) * period - round);
    if (alone.contains(1) && alone.contains(2)) p.second_alone.add(blocks, alone.at(2) - alone.at(1) - round);
  }
  // The epilogue: what products with one output tile per block take beyond their stages. Taken from those
  // with the fewest stages, where an error in a stage's time weighs least. The second stage is found as the
  // time by which a product of two stages takes longer than one of a single stage.
  std::map<int, std::map<int, double>> wholes;
  rows.each("epilogue", [&](const product_row& r) {
    if (r.loads && r.math && r.epilogue) wholes[r.blocks][stages(r.size, r.tile)] = r.median_ns;
  });
  for (const auto& [blocks, of] : wholes) {
    const auto& [depth, ns] = *of.begin();
    const double active = blocks;
    if (depth == 1 && of.contains(2)) p.second.add(active, of.at(2) - ns - p.both.at(active));
    p.epilogue.add(active, std::max(0.0, ns - p.launch.at(active) - p.first.at(active) -
                                             (depth > 1 ? p.second.at(active) : 0) - p.round.at(active) -
                                             (depth - 1) * p.both.at(active)));
  }
  const auto stores_only = [](const product_row& r) {
    return !r.loads && !r.math && r.epilogue && r.blocks == output_tiles(r.size, r.tile);
  };
  rows.each("epilogue", [&](const product_row& r) {
    if (stores_only(r)) p.store_alone.add(r.blocks, r.median_ns);
  });
  std::map<int, by_active> widths;
  rows.each("store", [&](const product_row& r) {
    if (stores_only(r)) widths[r.size.n].add(r.blocks, r.median_ns);
  });
  for (auto& [width, ns] : widths) p.store_by_width.push_back({width, std::move(ns)});
  // Products with one output tile per SM, and with several.
  std::map<int, std::map<bool, std::map<int, double>>>
      waves_of;  // by stages, and by whether each output tile has its own block
  rows.each("wave", [&](const product_row& r) {
    if (!r.loads) return;
    const int count = waves(r.size, r.tile, sms);
    auto& of = waves_of[stages(r.size, r.tile)];
    if (count == 1 || r.blocks == sms) of[false][count] = r.median_ns;
    if (count == 1 || r.blocks != sms) of[true][count] = r.median_ns;
  });
  for (auto& [depth, of] : waves_of) {
    // The time of the second tile is the slope from one tile to two, that of later ones the slope from two to
    // four; with only two measured numbers both are the same slope.
    const auto steps = [&](std::map<int, double> times) {
      auto first = times, later = times;
      if (times.size() > 2) {
        first.erase(std::prev(first.end()));
        later.erase(later.begin());
      }
      return std::pair{rows.slope(first), rows.slope(later)};
    };
    const auto tile = steps(of[false]), wave = steps(of[true]);
    const double stages_of_tile = depth * p.both.at(sms),
                 stages_of_wave = (depth - 1) * p.both.at(sms) + p.round.at(sms);
    p.next_tile.add(depth, tile.first - stages_of_tile);
    p.later_tile.add(depth, tile.second - stages_of_tile);
    p.next_wave.add(depth, wave.first - stages_of_wave);
    p.later_wave.add(depth, wave.second - stages_of_wave);
  }
  // Launches that only store, one output tile after the other.
  std::map<int, double> stores;
  rows.each("wave", [&](const product_row& r) {
    if (!r.loads && !r.math && r.epilogue && (r.blocks == sms))
      stores[waves(r.size, r.tile, sms)] = r.median_ns;
  });
  if (stores.size() > 1) p.store_ns = rows.slope(stores);
  return p;
}

double stage_bytes(extent tile) { return 2.0 * (tile.m + tile.n) * tile.k; }

}  // namespace

line_fit fit_line(std::span<const work_and_time> points) {
  double s = 0, sw = 0, sww = 0, st = 0, swt = 0;
  for (const auto& [work, ns] : points) {
    const double weight = 1 / (ns * ns);
    s += weight;
    sw += weight * work;
    sww += weight * work * work;
    st += weight * ns;
    swt += weight * work * ns;
  }
  const double determinant = s * sww - sw * sw;
  if (points.size() < 2 || !(determinant > 1e-12 * s * sww))
    throw std::invalid_argument("a line needs two different amounts of work");
  double slope = (s * swt - sw * st) / determinant, startup = (st - slope * sw) / s;
  if (startup < 0) {
    startup = 0;
    slope = swt / sww;
  }
  if (slope <= 0) {
    slope = 0;
    startup = st / s;
  }
  line_fit fit{{startup, slope > 0 ? 1 / slope : 0}, 0, 0};
  for (const auto& [work, ns] : points) {
    const double error = 100 * std::abs(fit.line.ns(work) - ns) / ns;
    fit.mean_error_percent += error / static_cast<double>(points.size());
    fit.max_error_percent = std::max(fit.max_error_percent, error);
  }
  return fit;
}

std::map<profile_key, tile_profile> profiles_of(std::span<const product_row> all, int sms) {
  std::map<profile_key, std::vector<const product_row*>> by_key;
  for (const product_row& r : all)
    if (r.set == "launch" || r.set == "stage" || r.set == "epilogue" || r.set == "store" || r.set == "wave")
      by_key[{r.family, r.instance, r.producers}].push_back(&r);
  std::map<profile_key, tile_profile> profiles;
  for (auto& [key, rows] : by_key) profiles.emplace(key, profile_of(rows_of_instance(std::move(rows)), sms));
  return profiles;
}

machine_fit fit_machine(std::span<const tile_profile> tiles, const machine_facts& facts) {
  std::vector<work_and_time> loads, bytes, multiply_adds, epilogues;
  std::vector<double> launches, latencies, chip;
  double most_bytes = 0, most_multiply_adds = 0;  // per ns, with all SMs multiplying
  const int sms = facts.sms;
  for (const tile_profile& p : tiles) {
    const double stage = stage_bytes(p.tile), work = 1.0 * p.tile.m * p.tile.n * p.tile.k;
    loads.push_back({stage, p.load.at(1)});
    bytes.push_back({stage, p.math.at(1)});
    multiply_adds.push_back({work, p.math.at(1)});
    epilogues.push_back({4.0 * p.tile.m * p.tile.n, p.epilogue.at(sms)});
    launches.push_back(p.launch.at(sms) + p.first.at(sms));
    latencies.push_back(std::max(0.0, p.round.at(1) - p.math.at(1) - p.load.at(1)));
    most_bytes = std::max(most_bytes, stage / p.math.at(sms));
    most_multiply_adds = std::max(most_multiply_adds, work / p.math.at(sms));
    if (p.load.at(sms) > 1.1 * p.load.at(1)) chip.push_back(sms * stage / p.load.at(sms));
  }
  machine_fit fit{{},          fit_line(loads), fit_line(bytes), fit_line(multiply_adds), fit_line(epilogues),
                  tiles.size()};
  machine& m = fit.on;
  m.name = facts.name;
  m.sms = sms;
  const auto peaks = peaks_of(m.name);
  m.peak_tflops = peaks.tflops;
  m.memory_bytes_per_ns = peaks.bytes_per_ns;
  m.l2_bytes = peaks.l2_bytes;
  m.shared_bytes = facts.shared_bytes - 1024;
  m.accumulator_bytes = std::int64_t{2} * 64 * 256 * 4;
  m.persistent = true;
  m.launch_ns = rounded(middle_one(launches));
  m.dma = rounded({fit.load.line.startup_ns / 2, fit.load.line.per_ns});  // half: a stage has two loads
  m.dma_latency_ns = rounded(middle_one(latencies));
  m.chip_bytes_per_ns = rounded(middle_one(chip));
  const bool by_bytes = fit.math_by_bytes.mean_error_percent < fit.math_by_multiply_adds.mean_error_percent;
  m.math_work = by_bytes ? work_unit::bytes : work_unit::multiply_adds;
  m.math = rounded(by_bytes ? fit.math_by_bytes.line : fit.math_by_multiply_adds.line);
  m.math_peak_per_ns = rounded(by_bytes ? most_bytes : most_multiply_adds);
  m.epilogue = rounded(fit.epilogue.line);
  const double math_error =
      by_bytes ? fit.math_by_bytes.mean_error_percent : fit.math_by_multiply_adds.mean_error_percent;
  m.assumptions = {
      fmt::format("lines over {} measured tiles, which they miss by {:.1f} % (loads), {:.1f} % (multiplying) "
                  "and {:.1f} % (epilogue) in the mean",
                  tiles.size(), fit.load.mean_error_percent, math_error, fit.epilogue.mean_error_percent),
      "launch with what a block's first stage takes longer than its load; medians over the tiles"};
  return fit;
}

double predicted_cycles(const synthetic_row& row, const semaphore_costs& costs) {
  stage_times t;
  t.a.issue = t.a.latency = of_cycles(row.load_a_cycles + costs.item);
  t.b.issue = t.b.latency = of_cycles(row.load_b_cycles + costs.item);
  t.math = of_cycles(row.math_cycles + costs.item);
  t.query = of_cycles(costs.query);
  t.handover = of_cycles(costs.handover);
  const int buffers = row.semaphore == "block-barrier" ? 1 : row.buffers;
  return costs.start +
         static_cast<double>(wave_time(t, row.stages, {row.producers, 1, buffers, false})) / fine;
}

semaphore_costs fit_semaphores(std::span<const synthetic_row> rows) {
  const auto badness = [&](const semaphore_costs& costs) {
    double sum = 0;
    for (const synthetic_row& r : rows) {
      const double error = predicted_cycles(r, costs) / r.median_cycles - 1;
      sum += error * error;
    }
    return sum;
  };
  semaphore_costs best{30, 30, 30, 30};
  const std::array<double semaphore_costs::*, 4> coordinates = {
      &semaphore_costs::item, &semaphore_costs::query, &semaphore_costs::handover, &semaphore_costs::start};
  double least = badness(best);
  for (double step = 64; step > 0.2; step /= 2)
    for (bool better = true; better;) {
      better = false;
      for (const auto coordinate : coordinates)
        for (const double sign : {-1.0, 1.0}) {
          semaphore_costs next = best;
          next.*coordinate = std::max(0.0, next.*coordinate + sign * step);
          if (const double now = badness(next); now < least * (1 - 1e-9)) {
            least = now;
            best = next;
            better = true;
          }
        }
    }
  return best;
}

}  // namespace mgsync::pipeline
