// Study levels: what a barrier costs at each level inside one GPU, and operations of a warp and memory beside
// it (000, section V, table II, figure 4; 001, tables 2, 4, 5 and 7).
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/harness/methods/rate.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/harness/study.hpp"
#include "src/studies/levels/level_bench.hpp"
#include "src/studies/levels/level_evaluation.hpp"
#include "src/studies/levels/level_points.hpp"
#include "src/studies/levels/level_results.hpp"
#include "src/studies/levels/probe_prover.hpp"

namespace mgsync {
namespace levels { namespace {

// Empty: all.
std::set<std::string> wanted_probes(const study_request& asked) {
  std::set<std::string> known, names;
  for (const auto& f : families()) known.insert(f.name);
  for (const auto& word : asked.list("probe")) {
    if (word == "all") return {};
    if (!known.contains(word))
      throw usage_error(
          fmt::format("--probe is '{}'; accepted: all, or of {}", word, fmt::join(known, ", ")));
    names.insert(word);
  }
  return names;
}

constexpr std::array<axis_declaration, 4> axes_of_levels{{
    {"level", "warp,block,cluster,memory", "warp, block, cluster, memory",
     "barriers and operations of which level"},
    {"quantity", "latency,throughput,host", "latency, throughput, host",
     "latency and throughput by the SM's cycle counter; latency by the host's clock, where a barrier lasts"},
    {"probe", "all", "all, or names of probes as the table of all levels has them",
     "which probes of these levels", word_count::list,
     [](const study_request& asked) { wanted_probes(asked); }},
    {"run", "1,2", "1 to 9", "measured once for each: two runs show what repeats"},
}};

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked: its probes have known answers"},
    {"no-check", "no rounds are checked: its probes have known answers"},
    {"no-pin", "its members are GPUs, and no thread is pinned"},
    {"oversubscribe", "its members are GPUs, and no host threads"},
};

// By the host's clock a run must last: so many links more.
rounds_choice host_lengths(const probe_family& f) {
  return f.loop_body != 0 ? rounds_choice{64 * f.loop_body, 1024 * f.loop_body}
                          : rounds_choice{128 * f.lengths.back(), 1024 * f.lengths.back()};
}

std::function<std::unique_ptr<method>()> method_for(const study_request& asked, const level_probe& one) {
  if (one.quantity == quantity::throughput) return [] { return std::make_unique<rate>(rate_settings{}); };
  if (one.quantity == quantity::host)
    return [lengths = host_lengths(*one.family),
            stopping = asked.stops({.max_time = std::chrono::milliseconds(250)})] {
      rounds_difference_settings settings;
      settings.lengths_given = lengths;
      settings.stopping = stopping;
      settings.samples_per_batch = 3;
      return std::make_unique<rounds_difference>(settings);
    };
  return [one] {
    slope_settings settings;
    settings.lengths.assign(one.family->lengths.begin(), one.family->lengths.end());
    settings.medians = one.on_every_sm() || one.is_chaotic() || one.family->source == "cluster";
    if (one.on_every_sm()) settings.place = "sm";
    return std::make_unique<slope>(settings);
  };
}

measurement planned(const study_request& asked, const level_probe& one, unsigned run,
                    const subject_maker& make) {
  measurement m;
  m.point = point_of(one, run);
  // Walks through DRAM would throw out of L2 what walks through L2 are to find there: L2 and DRAM are cells
  // by themselves.
  m.cell = fmt::format("{} {} {} {}", one.family->source, one.where,
                       all_quantities[static_cast<std::size_t>(one.quantity)], run);
  m.method = method_for(asked, one);
  m.prover = [one] { return std::make_unique<probe_prover>(one); };
  const auto* gpu = asked.first_gpu();
  if (gpu != nullptr) m.point.group = {gpu->id};
  m.create = [make, one, name = gpu == nullptr ? std::string() : gpu->name] {
    auto made = make(one);
    made.found["gpu"] = name;
    return made;
  };
  return m;
}

std::vector<measurement> points(const study_request& asked) {
  const auto wanted = wanted_probes(asked);
  std::vector<measurement> all;
  if (asked.device != topology::device::gpu || !asked.with_cuda) {
    // A line for each level, in place of hundreds that say the same.
    for (const auto& level : asked.list("level")) {
      measurement m;
      m.point.study = "levels";
      m.point.subject = level;
      m.point.device = asked.device;
      m.point.members = 1;
      m.point.group = {0};
      m.waived = asked.device != topology::device::gpu ? "for GPU members: its probes are kernels"
                                                       : "this mgsync was built without CUDA";
      m.method = [] { return std::make_unique<slope>(slope_settings{}); };
      all.push_back(std::move(m));
    }
    return all;
  }
  subject_maker make;
  if constexpr (MGSYNC_WITH_CUDA) make = probes_on(asked.first_ordinal());
  for (const auto& run_word : asked.list("run"))
    for (const auto& what : asked.list("quantity"))
      for (const auto& level : asked.list("level")) {
        const auto index = std::ranges::find(all_quantities, what) - std::begin(all_quantities);
        for (const auto& one : probes_of(level, static_cast<quantity>(index)))
          if (wanted.empty() || wanted.contains(one.family->name))
            all.push_back(planned(asked, one, static_cast<unsigned>(std::stoul(run_word)), make));
      }
  return all;
}

evaluation evaluate_results(std::span<const result> all) {
  const auto runs = runs_in(all);
  if (runs.empty()) return {};
  const auto first = run_of(all, runs.front());
  if (runs.size() < 2) return evaluate(first.values, first.gpu);
  auto again = compare_runs(all, runs[0], runs[1]);
  auto e = evaluate(first.values, first.gpu, again.statements);
  if (auto chance = table_of_chance(all); !chance.rows.empty()) e.tables.push_back(std::move(chance));
  if (!again.apart.rows.empty()) e.tables.push_back(std::move(again.apart));
  return e;
}

}}  // namespace levels

extern const study levels_study;
const study levels_study{.name = "levels",
                         .summary = "barriers and memory inside one GPU, by the SM's own clock (000, table "
                                    "II; 001, tables 2, 4, 5 and 7)",
                         .axes = levels::axes_of_levels,
                         .points = levels::points,
                         .evaluate = levels::evaluate_results,
                         .seconds_per_point = 0.035,
                         .refuses = levels::refused};

}  // namespace mgsync
