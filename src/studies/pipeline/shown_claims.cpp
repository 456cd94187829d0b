// Which of the models tells a product's time: paper 003's equations, its lines, a straight line, and ours.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "src/models/pipeline/closed_form.hpp"
#include "src/models/pipeline/search.hpp"
#include "src/studies/pipeline/shown_study.hpp"

namespace mgsync::pipeline {

namespace {

std::int64_t waves_of(const product_row& r, int sms) { return waves(r.size, r.tile, sms); }

double busy(const product_row& r, int sms) {
  return static_cast<double>(std::min<std::int64_t>(output_tiles(r.size, r.tile), sms));
}

ticks to_ticks(double ns) { return std::llround(std::max(0.0, ns) * ticks_per_ns); }

}  // namespace

double paper_equations_ns(const product_row& r, const tile_profile& p, int sms) {
  const double most = busy(r, sms);
  stage_times t;
  t.a.issue = t.a.latency = to_ticks(p.load.at(most));
  t.math = to_ticks(p.math.at(most));
  const auto wave = wave_time(t, stages(r.size, r.tile), {1, 1, r.buffers, false});
  return p.launch.at(most) + static_cast<double>(waves_of(r, sms)) *
                                 (static_cast<double>(wave) / ticks_per_ns + p.epilogue.at(most));
}

double straight_line_ns(const product_row& r, const tile_profile& p, int sms) {
  const double most = busy(r, sms);
  const auto& stage = r.buffers == 1 ? p.round : p.both;
  const double all = static_cast<double>(waves_of(r, sms)) * stages(r.size, r.tile);
  return p.launch.at(most) + p.first.at(most) + p.round.at(most) + (all - 1) * stage.at(most) +
         p.epilogue.at(most);
}

table claims_of(const measured_study& study, const std::map<profile_key, tile_profile>& profiles,
                figure_heading heading) {
  heading.title = "Which model tells a product's time";
  heading.caption =
      "Errors of whole times, products that no model saw. Equations: (1) to (3), with loading and "
      "multiplying "
      "measured apart. Lines: eqs. 4 to 7 over all tiles of the kernel. Straight: what one stage takes, "
      "times "
      "their number, and what a launch takes without any. Ours: the simulator, with both measured together.";
  table t{std::move(heading),
          {"kernel", "products", "count | >", "equations, mean | .1f %", "largest | .1f %",
           "lines, mean | .1f %", "largest | .1f %", "straight, mean | .1f %", "largest | .1f %",
           "ours, mean | .1f %", "largest | .1f %"}};
  using errors = std::array<std::vector<std::pair<double, double>>, 4>;
  std::map<std::pair<std::string, int>, std::vector<tile_profile>> kernels;
  for (const auto& [key, p] : profiles) kernels[{p.family, p.producers}].push_back(p);
  const int sms = study.facts.sms;
  for (const auto& [kernel, tiles] : kernels) {
    if (tiles.size() < 2) continue;
    const machine lines = fit_machine(tiles, study.facts).on;
    std::map<std::string, errors> sets;
    for (const product_row& r : study.products) {
      if (!is_held_out(r) || r.family != kernel.first || r.producers != kernel.second) continue;
      const auto& p = profiles.at({r.family, r.instance, r.producers});
      const bool stays = r.blocks < output_tiles(r.size, r.tile);
      const double by_lines =
          static_cast<double>(
              predict(lines, r.size, {r.tile, {1, stays ? r.consumers : 1, r.buffers, stays}}).total) /
          ticks_per_ns;
      auto& of = sets[set_name(r.set)];
      of[0].emplace_back(paper_equations_ns(r, p, sms), r.median_ns);
      of[1].emplace_back(by_lines, r.median_ns);
      of[2].emplace_back(straight_line_ns(r, p, sms), r.median_ns);
      of[3].emplace_back(simulated_ns(r, p, sms), r.median_ns);
    }
    for (const auto& [set, of] : sets) {
      std::vector<table_entry> row{kernel_name(kernel.first, kernel.second), set, of[0].size()};
      for (const auto& one : of) {
        const auto s = summarize_errors(one);
        row.insert(row.end(), {s.mean_percent / 100, s.max_percent / 100});
      }
      t.add(row);
    }
  }
  return t;
}

}  // namespace mgsync::pipeline
