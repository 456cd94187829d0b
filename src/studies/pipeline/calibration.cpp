#include "src/studies/pipeline/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "src/models/pipeline/closed_form.hpp"
#include "src/results/values/statistics.hpp"
#include "src/studies/pipeline/gemm_instances.hpp"

namespace mgsync::pipeline {

namespace {

constexpr double fine = 1000;  // ticks per cycle or ns during fitting

// Rounds a number to a thousandth of its unit, as it is written to a file.
double rounded(double value) { return std::round(value * 1000) / 1000; }
cost_line rounded(const cost_line& line) { return {rounded(line.startup_ns), rounded(line.per_ns)}; }

ticks of_cycles(double value) { return std::llround(std::max(0.0, value) * fine); }

double stage_bytes(extent tile) { return 2.0 * (tile.m + tile.n) * tile.k; }

// A line, or what is the same for any amount of work where only one was measured.
line_fit fit_line_or_mean(std::span<const work_and_time> points) {
  const bool differ =
      std::ranges::any_of(points, [&](const work_and_time& one) { return one.work != points.front().work; });
  if (differ || points.size() < 2) return fit_line(points);
  line_fit fit;
  for (const auto& one : points) fit.line.startup_ns += one.ns / static_cast<double>(points.size());
  return fit;
}

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
  machine_fit fit{{},
                  fit_line_or_mean(loads),
                  fit_line_or_mean(bytes),
                  fit_line_or_mean(multiply_adds),
                  fit_line_or_mean(epilogues),
                  tiles.size()};
  machine& m = fit.on;
  m.name = facts.name;
  m.sms = sms;
  const auto peaks = peaks_of(m.name);
  m.peak_tflops = peaks.tflops;
  m.memory_bytes_per_ns = peaks.bytes_per_ns;
  m.l2_bytes = peaks.l2_bytes;
  m.shared_bytes = facts.shared_bytes - 1024;
  // Two warpgroups with 64 x 256 each is what wgmma is compiled for at most; mma has the registers of four
  // warps.
  const bool groups = !tiles.empty() && tiles.front().family == wgmma_family.name;
  m.accumulator_bytes = std::int64_t{4} * (groups ? 2 * 64 * 256 : most_registers * 4 * 32);
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
