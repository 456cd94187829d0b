#include "src/studies/pipeline/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace mgsync::pipeline {

namespace {

// How many SMs are busy in each wave of the product.
std::vector<int> busy_sms(const product_row& row, int sms) {
  const std::int64_t all = output_tiles(row.size, row.tile);
  std::vector<int> busy(static_cast<std::size_t>(waves(row.size, row.tile, sms)),
                        static_cast<int>(std::min<std::int64_t>(all, sms)));
  busy.back() = static_cast<int>(all - static_cast<std::int64_t>(busy.size() - 1) * sms);
  return busy;
}

}  // namespace

error_summary summarize_errors(std::span<const std::pair<double, double>> predicted_and_measured) {
  error_summary s;
  s.histogram.assign(histogram_bins, 0);
  s.count = predicted_and_measured.size();
  for (const auto& [predicted, seen] : predicted_and_measured) {
    const double error = 100 * (predicted - seen) / seen;
    s.mean_percent += std::abs(error) / static_cast<double>(s.count);
    s.max_percent = std::max(s.max_percent, std::abs(error));
    const double bin = std::floor((error - histogram_from) / histogram_bin);
    ++s.histogram[static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(histogram_bins - 1)))];
  }
  return s;
}

double simulated_ns(const product_row& row, const tile_profile& p, int sms) {
  return time_with(p, row.size, {row.buffers, row.blocks}, sms).total;
}

double max_model_ns(const product_row& row, const tile_profile& p, int sms) {
  const auto busy = busy_sms(row, sms);
  const int depth = stages(row.size, row.tile);
  tile_profile plain;  // without the widths of C, which this model does not know
  plain.tile = row.tile;
  double sum = p.launch.at(busy.front()) + p.first.at(busy.front()) + p.round.at(busy.front()) -
               p.math.at(busy.front());
  for (const int active : busy)
    sum += std::max({depth * p.load.at(active), depth * p.math.at(active), p.next_tile.at(depth)});
  return sum + p.epilogue.at(busy.back()) * stored_share(plain, row.size);
}

tile_choice_summary choices_of(std::span<const product_row> grid, const row_prediction& predicted) {
  struct per_size {
    double least_measured = 0, least_predicted = 0, measured_of_choice = 0;
  };
  std::map<std::tuple<int, int, int>, per_size> sizes;
  for (const product_row& r : grid) {
    per_size& s = sizes[{r.size.m, r.size.n, r.size.k}];
    const double expected = predicted(r);
    if (s.least_measured == 0 || r.median_ns < s.least_measured) s.least_measured = r.median_ns;
    if (s.least_predicted == 0 || expected < s.least_predicted) {
      s.least_predicted = expected;
      s.measured_of_choice = r.median_ns;
    }
  }
  std::vector<double> all;
  for (const auto& [_, s] : sizes) all.push_back(100 * (s.measured_of_choice / s.least_measured - 1));
  return summarize_choices(std::move(all));
}

tile_choice_summary summarize_choices(std::vector<double> all) {
  tile_choice_summary out;
  out.sizes = all.size();
  for (const double slower : all) {
    out.within_5_percent += slower <= 5;
    out.worst_percent = std::max(out.worst_percent, slower);
    out.mean_percent += slower / static_cast<double>(all.size());
  }
  std::ranges::sort(all);
  if (!all.empty()) {
    out.median_percent = all[(all.size() - 1) / 2];
    out.ninety_percent = all[(all.size() * 9 + 9) / 10 - 1];
  }
  return out;
}

tile_choice_summary fixed_choice_of(std::span<const product_row> grid) {
  std::map<int, const product_row*> instances;
  for (const product_row& r : grid) instances.emplace(r.instance, &r);
  tile_choice_summary best;
  for (const auto& one : instances) {
    const int instance = one.first;
    auto fixed =
        choices_of(grid, [instance](const product_row& r) { return r.instance == instance ? 1.0 : 2.0; });
    if (!best.tile.empty() && fixed.mean_percent >= best.mean_percent) continue;
    fixed.tile = text(one.second->tile) + (one.second->consumers == 2 ? ", ping-pong" : "");
    best = std::move(fixed);
  }
  return best;
}

std::vector<synthetic_summary> evaluate_synthetic(std::span<const synthetic_row> rows) {
  std::map<std::string, std::vector<synthetic_row>> calibration, held_out;
  for (const synthetic_row& r : rows)
    (r.set == "calibration" ? calibration : held_out)[r.semaphore].push_back(r);
  std::vector<synthetic_summary> found;
  std::vector<std::pair<double, double>> all;
  for (const auto& [semaphore, to_fit] : calibration) {
    synthetic_summary s{semaphore, fit_semaphores(to_fit), {}};
    std::vector<std::pair<double, double>> pairs;
    for (const synthetic_row& r : held_out[semaphore])
      pairs.emplace_back(predicted_cycles(r, s.costs), r.median_cycles);
    s.held_out = summarize_errors(pairs);
    semaphore_costs slower = s.costs;
    slower.query += 100;
    s.query_shows = std::ranges::any_of(to_fit, [&](const synthetic_row& r) {
      return predicted_cycles(r, slower) != predicted_cycles(r, s.costs);
    });
    all.insert(all.end(), pairs.begin(), pairs.end());
    found.push_back(std::move(s));
  }
  found.push_back({"all", {}, summarize_errors(all)});
  return found;
}

bool is_held_out(const product_row& r) {
  return r.loads && r.math && r.epilogue &&
         (r.set == "grid" || r.set == "random" || r.set == "large" || r.set == "fresh" || r.set == "asked");
}

tile_profile with_registers(tile_profile p, const gemm_family& family) {
  const bool trades = &family == &wgmma_family && (p.consumers == 2 || p.math_warps == 8);
  p.registers = trades ? traded_consumer_registers : most_registers;
  p.producer_registers = trades ? traded_producer_registers : 0;
  return p;
}

std::vector<known_error> known_errors(const measured_study& study) {
  constexpr int kinds[] = {1024, 3072, 8192, 16384};
  const auto profiles = profiles_of(study.products, study.facts.sms);
  std::map<std::tuple<std::string, int, int>, std::vector<double>> off;
  for (const product_row& r : study.products) {
    const auto found = profiles.find({r.family, r.instance, r.producers});
    if (!is_held_out(r) || found == profiles.end()) continue;
    const int side = std::max({r.size.m, r.size.n, r.size.k});
    const auto* const kind = std::ranges::lower_bound(kinds, side);
    if (kind != std::end(kinds))
      off[{r.family, r.producers, *kind}].push_back(
          100 * std::abs(simulated_ns(r, found->second, study.facts.sms) / r.median_ns - 1));
  }
  const auto to_hundredth = [](double percent) { return std::round(percent * 100) / 100; };
  std::vector<known_error> all;
  for (auto& [key, errors] : off) {
    const auto& [kernel, producers, side] = key;
    std::ranges::sort(errors);
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    all.push_back({kernel, producers, side, static_cast<int>(errors.size()),
                   to_hundredth(sum / static_cast<double>(errors.size())),
                   to_hundredth(errors[(errors.size() * 9 + 9) / 10 - 1]), to_hundredth(errors.back())});
  }
  return all;
}

std::vector<std::string> violations_of(std::span<const stamp_row> rows) {
  const stamp_row& any = rows.front();
  const int buffers = any.semaphore == "block-barrier" ? 1 : any.buffers;
  return violations(activities_of(rows), 1, any.stages, {any.producers, 1, buffers, false});
}

std::vector<activity> activities_of(std::span<const stamp_row> rows) {
  std::vector<activity> all;
  for (const stamp_row& r : rows) {
    activity a;
    a.kind = r.what == 'a'   ? activity_kind::load_a
             : r.what == 'b' ? activity_kind::load_b
                             : activity_kind::math;
    a.agent = r.what == 'm' ? 0 : r.agent;
    a.stage = r.stage;
    a.begin = std::llround(r.begin);
    a.end = a.released = std::llround(r.end);
    all.push_back(a);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const activity& x, const activity& y) { return x.begin < y.begin; });
  return all;
}

}  // namespace mgsync::pipeline
