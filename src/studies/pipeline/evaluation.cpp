#include "src/studies/pipeline/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace mgsync::pipeline {

namespace {

constexpr double ticks_of_profile_per_ns = 1000;

// How many SMs are busy in each wave of the product.
std::vector<int> busy_sms(const product_row& row, int sms) {
  const std::int64_t all = output_tiles(row.size, row.tile);
  std::vector<int> busy(static_cast<std::size_t>(waves(row.size, row.tile, sms)),
                        static_cast<int>(std::min<std::int64_t>(all, sms)));
  busy.back() = static_cast<int>(all - static_cast<std::int64_t>(busy.size() - 1) * sms);
  return busy;
}

// The share of an output tile that is stored, below 1 where the product is smaller than the tile. The columns
// do not count where the epilogue was calibrated with C of this width, since that includes them.
double stored_share(const product_row& row, const tile_profile& p) {
  const auto share = [](int size, int tile) { return size < tile ? static_cast<double>(size) / tile : 1.0; };
  return share(row.size.m, row.tile.m) *
         (p.store_by_width.contains(row.size.n) ? 1.0 : share(row.size.n, row.tile.n));
}

bool is_persistent(const product_row& row) { return row.blocks < output_tiles(row.size, row.tile); }

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

double launch_ns(const product_row& row, const tile_profile& p, int sms) {
  return p.launch.at(busy_sms(row, sms).front());
}

double simulated_ns(const product_row& row, const tile_profile& p, int sms) {
  const auto busy = busy_sms(row, sms);
  const bool stays = is_persistent(row);
  const int depth = stages(row.size, row.tile), all_stages = depth * static_cast<int>(busy.size());
  const double most = busy.front();
  const auto to_profile_ticks = [](double ns) {
    return static_cast<ticks>(std::llround(std::max(0.0, ns) * ticks_of_profile_per_ns));
  };
  std::vector<stage_times> tiles;
  for (const int active : busy) tiles.push_back(times_of(p, active, row.buffers, depth));
  // The first load of a block is not slowed down by anything beside it, as later ones are.
  const double alone = p.round.at(most) - static_cast<double>(tiles.front().a.latency + tiles.front().math) /
                                              ticks_of_profile_per_ns;
  for (std::size_t i = 0; i + 1 < tiles.size(); ++i) {
    const by_active& next =
        stays ? (i == 0 ? p.next_tile : p.later_tile) : (i == 0 ? p.next_wave : p.later_wave);
    tiles[i].epilogue =
        to_profile_ticks(next.at(depth) + (stays ? 0 : alone) + width_shift_ns(p, row.size.n, most));
  }
  tiles.back().epilogue = to_profile_ticks(
      (p.epilogue.at(busy.back()) + width_shift_ns(p, row.size.n, busy.back())) * stored_share(row, p));
  const simulation run = simulate(tiles, depth, {1, stays ? row.consumers : 1, row.buffers, stays});
  // Stores are hidden behind the next output tile, but cannot be faster than memory takes them.
  const double stores = stays ? static_cast<double>(output_tiles(row.size, row.tile)) / sms * p.store_ns : 0;
  const double stages_ns = p.round.at(most) + (depth - 1) * p.both.at(most);
  const double cold =
      (stays ? all_stages : depth) == 1 ? 0 : (row.buffers == 1 ? p.second_alone : p.second).at(most);
  return p.launch.at(most) + p.first.at(most) + cold +
         std::max(alone + static_cast<double>(run.total) / ticks_of_profile_per_ns, stages_ns + stores);
}

double max_model_ns(const product_row& row, const tile_profile& p, int sms) {
  const auto busy = busy_sms(row, sms);
  const int depth = stages(row.size, row.tile);
  double sum = p.launch.at(busy.front()) + p.first.at(busy.front()) + p.round.at(busy.front()) -
               p.math.at(busy.front());
  for (const int active : busy)
    sum += std::max({depth * p.load.at(active), depth * p.math.at(active), p.next_tile.at(depth)});
  return sum + p.epilogue.at(busy.back()) * stored_share(row, {});
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
  tile_choice_summary out;
  out.sizes = sizes.size();
  for (const auto& [_, s] : sizes) {
    const double slower = 100 * (s.measured_of_choice / s.least_measured - 1);
    out.within_5_percent += slower <= 5;
    out.worst_percent = std::max(out.worst_percent, slower);
    out.mean_percent += slower / static_cast<double>(sizes.size());
  }
  return out;
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
    all.insert(all.end(), pairs.begin(), pairs.end());
    found.push_back(std::move(s));
  }
  found.push_back({"all", {}, summarize_errors(all)});
  return found;
}

bool is_held_out(const product_row& r) {
  return r.loads && r.math && r.epilogue &&
         (r.set == "grid" || r.set == "random" || r.set == "large" || r.set == "asked");
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
