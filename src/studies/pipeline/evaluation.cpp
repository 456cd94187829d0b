#include "src/studies/pipeline/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "src/studies/pipeline/search.hpp"

namespace mgsync::pipeline {

namespace {

constexpr double ticks_of_profile_per_ns = 1000;

// How many SMs are busy in each wave of this row.
std::vector<int> busy_sms(const product_row& row, int sms) {
  const std::int64_t all = output_tiles(row.size, row.tile);
  std::vector<int> busy(static_cast<std::size_t>(waves(row.size, row.tile, sms)), static_cast<int>(std::min<std::int64_t>(all, sms)));
  busy.back() = static_cast<int>(all - static_cast<std::int64_t>(busy.size() - 1) * sms);
  return busy;
}

// How much of an output tile is stored: less than all where the product is smaller than the tile.
double stored_share(const product_row& row) {
  const auto share = [](int size, int tile) { return size < tile ? static_cast<double>(size) / tile : 1.0; };
  return share(row.size.m, row.tile.m) * share(row.size.n, row.tile.n);
}

bool is_persistent(const product_row& row) { return row.blocks < output_tiles(row.size, row.tile); }

std::string one_line(const char* what, const error_summary& s) {
  return fmt::format("{:<34} {:6} rows, mean {:5.2f} %, max {:6.2f} %\n", what, s.count, s.mean_percent, s.max_percent);
}

std::string histogram_text(const error_summary& s) {
  std::string out;
  const std::size_t most = *std::max_element(s.histogram.begin(), s.histogram.end());
  for (std::size_t i = 0; i < s.histogram.size(); ++i) {
    if (s.histogram[i] == 0) continue;
    const double from = histogram_from + histogram_bin * static_cast<double>(i);
    const std::size_t length = most == 0 ? 0 : (s.histogram[i] * 60 + most - 1) / most;
    const std::string range = i == 0 ? fmt::format("below {:+.0f}", from + histogram_bin)
                              : i + 1 == s.histogram.size() ? fmt::format("{:+.0f} and above", from)
                                                            : fmt::format("{:+.0f} to {:+.0f}", from, from + histogram_bin);
    out += fmt::format("    {:>13} %  {:6}  {}\n", range, s.histogram[i], std::string(length, '#'));
  }
  return out;
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

double launch_ns(const product_row& row, const tile_profile& p, int sms) { return p.launch.at(busy_sms(row, sms).front()); }

double simulated_ns(const product_row& row, const tile_profile& p, int sms) {
  const auto busy = busy_sms(row, sms);
  const bool stays = is_persistent(row);
  std::vector<stage_times> tiles;
  for (const int active : busy) tiles.push_back(times_of(p, active));
  const double beyond = std::max(0.0, stays ? p.next_tile_ns : p.next_wave_ns);
  for (std::size_t i = 0; i + 1 < tiles.size(); ++i) tiles[i].epilogue = std::llround(beyond * ticks_of_profile_per_ns);
  tiles.back().epilogue = std::llround(static_cast<double>(tiles.back().epilogue) * stored_share(row));
  const arrangement warps{1, stays ? row.consumers : 1, row.buffers, stays};
  const simulation run = simulate(tiles, stages(row.size, row.tile), warps);
  // Stores are handed over to memory and hidden behind the next output tile, but no faster than memory takes them.
  const double stores = stays ? static_cast<double>(output_tiles(row.size, row.tile)) / sms * p.store_ns : 0;
  const double stages_ns = p.round.at(busy.front()) + (stages(row.size, row.tile) - 1) * p.both.at(busy.front());
  return p.launch.at(busy.front()) + p.first.at(busy.front()) +
         std::max(static_cast<double>(run.total) / ticks_of_profile_per_ns, stages_ns + stores);
}

double max_model_ns(const product_row& row, const tile_profile& p, int sms) {
  const auto busy = busy_sms(row, sms);
  const int depth = stages(row.size, row.tile);
  double sum = p.launch.at(busy.front()) + p.first.at(busy.front()) + p.round.at(busy.front()) - p.math.at(busy.front());
  for (const int active : busy) sum += std::max({depth * p.load.at(active), depth * p.math.at(active), p.next_tile_ns});
  return sum + p.epilogue.at(busy.back()) * stored_share(row);
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
  for (const synthetic_row& r : rows) (r.set == "calibration" ? calibration : held_out)[r.semaphore].push_back(r);
  std::vector<synthetic_summary> found;
  std::vector<std::pair<double, double>> all;
  for (const auto& [semaphore, to_fit] : calibration) {
    synthetic_summary s{semaphore, fit_semaphores(to_fit), {}};
    std::vector<std::pair<double, double>> pairs;
    for (const synthetic_row& r : held_out[semaphore]) pairs.emplace_back(predicted_cycles(r, s.costs), r.median_cycles);
    s.held_out = summarize_errors(pairs);
    all.insert(all.end(), pairs.begin(), pairs.end());
    found.push_back(std::move(s));
  }
  found.push_back({"all", {}, summarize_errors(all)});
  return found;
}

std::vector<activity> activities_of(std::span<const stamp_row> rows) {
  std::vector<activity> all;
  for (const stamp_row& r : rows) {
    activity a;
    a.kind = r.what == 'a' ? activity_kind::load_a : r.what == 'b' ? activity_kind::load_b : activity_kind::math;
    a.agent = r.what == 'm' ? 0 : r.agent;
    a.stage = r.stage;
    a.begin = std::llround(r.begin);
    a.end = a.released = std::llround(r.end);
    all.push_back(a);
  }
  std::stable_sort(all.begin(), all.end(), [](const activity& x, const activity& y) { return x.begin < y.begin; });
  return all;
}

namespace {

std::string synthetic_report(const measured_study& study) {
  std::string out = "Synthetic kernel: costs fitted on the calibration rows, in cycles; errors over held-out settings\n";
  for (const synthetic_summary& s : evaluate_synthetic(study.synthetic)) {
    out += fmt::format("  {:<14} {:4} settings, mean {:5.2f} %, max {:5.2f} %", s.semaphore, s.held_out.count, s.held_out.mean_percent,
                       s.held_out.max_percent);
    if (s.semaphore != "all")
      out += fmt::format("   item {:.1f}, query {:.1f}, handover {:.1f}, start {:.1f}", s.costs.item, s.costs.query, s.costs.handover, s.costs.start);
    out += "\n";
    if (s.semaphore == "all") out += histogram_text(s.held_out);
  }
  std::map<int, std::vector<stamp_row>> timelines;
  for (const stamp_row& r : study.stamps) timelines[r.timeline].push_back(r);
  for (const auto& [index, rows] : timelines) {
    const stamp_row& any = rows.front();
    const int buffers = any.semaphore == "block-barrier" ? 1 : any.buffers;
    const auto wrong = violations(activities_of(rows), 1, any.stages, {any.producers, 1, buffers, false});
    out += fmt::format("  timeline {} ({}, {} producer{}, {} buffers): {}\n", index, any.semaphore, any.producers, any.producers == 1 ? "" : "s",
                       any.buffers, wrong.empty() ? "nothing out of order" : fmt::format("{} violations, the first: {}", wrong.size(), wrong.front()));
  }
  return out;
}

struct prediction_rows {
  std::vector<std::pair<double, double>> whole, less_launch, second_model;
  void add(const product_row& r, const tile_profile& p, int sms) {
    const double predicted = simulated_ns(r, p, sms), launch = launch_ns(r, p, sms);
    whole.emplace_back(predicted, r.median_ns);
    less_launch.emplace_back(predicted - launch, r.median_ns - launch);
    second_model.emplace_back(max_model_ns(r, p, sms), r.median_ns);
  }
};

std::string lines_report(const std::vector<tile_profile>& tiles, const std::vector<const product_row*>& grid, const machine_facts& facts) {
  const machine_fit all = fit_machine(tiles, facts);
  std::string out = fmt::format("  lines over {} tiles (eqs. 4 to 7), mean and largest error of the points:\n", tiles.size());
  const auto line = [&](const char* what, const line_fit& f, const char* unit) {
    out += fmt::format("    {:<26} {:7.1f} ns + work / {:9.2f} {}: {:5.2f} %, {:5.2f} %\n", what, f.line.startup_ns, f.line.per_ns, unit,
                       f.mean_error_percent, f.max_error_percent);
  };
  line("loads of a stage", all.load, "B/ns");
  line("multiplying, by bytes", all.math_by_bytes, "B/ns");
  line("multiplying, by its work", all.math_by_multiply_adds, "multiply-adds/ns");
  line("epilogue, all SMs", all.epilogue, "B/ns");
  // Each tile predicted from lines that were fitted to the others.
  std::vector<std::pair<double, double>> pairs;
  for (const tile_profile& left_out : tiles) {
    std::vector<tile_profile> others;
    for (const tile_profile& p : tiles)
      if (p.instance != left_out.instance) others.push_back(p);
    if (others.size() < 6) continue;
    const machine on = fit_machine(others, facts).on;
    for (const product_row* r : grid)
      if (r->instance == left_out.instance)
        pairs.emplace_back(static_cast<double>(predict(on, r->size, {r->tile, {1, r->consumers, r->buffers, true}}).total) / ticks_per_ns, r->median_ns);
  }
  if (!pairs.empty()) out += "  " + one_line("tiles the lines were not fitted to", summarize_errors(pairs));
  return out;
}

std::string family_report(const measured_study& study, const std::string& family, int producers, int sms,
                          const std::map<profile_key, tile_profile>& profiles) {
  prediction_rows grid_rows, random_rows;
  std::vector<product_row> grid;
  std::vector<const product_row*> grid_pointers;
  for (const product_row& r : study.products) {
    const auto found = profiles.find({r.family, r.instance, r.producers});
    if (r.family != family || r.producers != producers || found == profiles.end()) continue;
    if (r.set == "grid") {
      grid_rows.add(r, found->second, sms);
      grid.push_back(r);
      grid_pointers.push_back(&r);
    } else if (r.set == "random") {
      random_rows.add(r, found->second, sms);
    }
  }
  if (grid.empty()) return "";
  std::string out = fmt::format("{}, {} producer{}\n", family, producers, producers == 1 ? "" : "s");
  const error_summary less_launch = summarize_errors(grid_rows.less_launch);
  out += "  " + one_line("grid to 1024, launch subtracted", less_launch) + histogram_text(less_launch);
  out += "  " + one_line("grid to 1024, whole", summarize_errors(grid_rows.whole));
  out += "  " + one_line("grid, second model (max), whole", summarize_errors(grid_rows.second_model));
  if (!random_rows.whole.empty()) {
    out += "  " + one_line("random to 3072, launch subtracted", summarize_errors(random_rows.less_launch));
    out += "  " + one_line("random to 3072, whole", summarize_errors(random_rows.whole));
  }
  const auto choice = choices_of(grid, [&](const product_row& r) { return simulated_ns(r, profiles.at({r.family, r.instance, r.producers}), sms); });
  out += fmt::format("  best tile by the model            {} of {} sizes at most 5 % slower than the best measured ({:.1f} %), mean {:.2f} %, worst {:.1f} %\n",
                     choice.within_5_percent, choice.sizes, 100.0 * static_cast<double>(choice.within_5_percent) / static_cast<double>(choice.sizes),
                     choice.mean_percent, choice.worst_percent);
  std::vector<tile_profile> tiles;
  for (const auto& [key, p] : profiles)
    if (std::get<0>(key) == family && std::get<2>(key) == producers) tiles.push_back(p);
  return out + lines_report(tiles, grid_pointers, study.facts);
}

}  // namespace

std::string report(const measured_study& study) {
  std::string out;
  for (const auto& [key, value] : study.facts) out += fmt::format("{} {}, ", key, value);
  if (!out.empty()) out.replace(out.size() - 2, 2, "\n");
  if (!study.synthetic.empty()) out += synthetic_report(study);
  const auto sms = study.facts.find("sms");
  const int count = sms == study.facts.end() ? 1 : std::stoi(sms->second);
  const auto profiles = profiles_of(study.products, count);
  for (const char* family : {"mma", "wgmma"})
    for (const int producers : {1, 2}) out += family_report(study, family, producers, count, profiles);
  double peak = 0, whole = 0;
  for (const product_row& r : study.products)
    if (r.set == "large" && r.family == "wgmma" && r.size == extent{8192, 8192, 8192}) {
      const double rate = 2.0 * r.size.m * r.size.n * r.size.k / r.median_ns * 1e-3;
      (r.loads ? whole : peak) = std::max(r.loads ? whole : peak, rate);
    }
  if (peak > 0)
    out += fmt::format("wgmma at 8192 cubed: {:.0f} TFLOP/s, multiplying alone {:.0f}: {:.1f} %\n", whole, peak, 100 * whole / peak);
  return out;
}

}  // namespace mgsync::pipeline
