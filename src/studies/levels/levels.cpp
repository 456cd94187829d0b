// Study levels: what a barrier costs at each level inside one GPU, and operations of a warp and memory beside
// it (000, section V, table II, figure 4; 001, tables 2, 4, 5 and 7).
#include <algorithm>

#include <fmt/format.h>

#include "src/harness/methods/rate.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/harness/study.hpp"
#include "src/studies/levels/level_bench.hpp"
#include "src/studies/levels/level_evaluation.hpp"
#include "src/studies/levels/level_points.hpp"
#include "src/studies/levels/probe_checker.hpp"

namespace mgsync {
namespace levels { namespace {

constexpr axis_of<std::string_view> levels_of_a_gpu({.name = "level",
                                                     .help = "barriers and operations of which level"},
                                                    all_levels);
constexpr axis_of<quantity> quantities({.name = "quantity",
                                        .help = "latency and throughput by the SM's cycle counter; latency "
                                                "by the host's clock, where a barrier lasts"},
                                       words_in<quantity>{});
constexpr axis_of<const probe_family*> probes({.name = "probe", .help = "which probes of these levels"},
                                              names_in<families>{});
constexpr axis_of<unsigned> repeats({.name = "run",
                                     .help = "measured once for each: two runs show what repeats"},
                                    numbers_in{.least = 1, .most = 9, .defaults = "1,2"});
constexpr const axis_declaration* axes_of_levels[] = {&levels_of_a_gpu, &quantities, &probes, &repeats};

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked: its probes have known answers"},
    {"no-check", "no rounds are checked: its probes have known answers"},
    {"no-pin", "its members are GPUs, and no thread is pinned"},
    {"oversubscribe", "its members are GPUs, and no host threads"},
};

// The two lengths of a run by the host's clock, long enough for that clock.
rounds_choice host_lengths(const probe_family& f) {
  return f.has(probes::loop_256) ? rounds_choice{64 * 256, 1024 * 256}
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
    settings.medians = one.on_every_sm() || one.where.starts_with("L2") || one.is_chaotic() ||
                       one.family->source == "cluster";
    if (one.on_every_sm()) settings.place = "sm";
    return std::make_unique<slope>(settings);
  };
}

measurement planned(const study_request& asked, const level_probe& one, unsigned run,
                    const subject_maker& make) {
  measurement m;
  m.point = point_of(one, run);
  // L2 and DRAM are cells of their own: a chase through DRAM would evict from L2 what the chase through L2
  // must find there.
  m.cell = fmt::format("{} {} {} {}", one.family->source, one.where, to_string(one.quantity), run);
  m.method = method_for(asked, one);
  m.checker = [one] { return std::make_unique<probe_checker>(one); };
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
  std::vector<measurement> all;
  if (asked.device != topology::device::gpu || !asked.with_cuda) {
    // One point for each level, instead of hundreds with the same reason.
    for (const auto level : asked.values(levels_of_a_gpu)) {
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
  const auto& wanted = asked.values(probes);
  for (const unsigned run : asked.values(repeats))
    for (const auto what : asked.values(quantities))
      for (const auto level : asked.values(levels_of_a_gpu))
        for (const auto& one : probes_of(level, what))
          if (std::ranges::find(wanted, one.family) != wanted.end())
            all.push_back(planned(asked, one, run, make));
  return all;
}

evaluation evaluate_results(std::span<const result> all) {
  const auto runs = runs_in(all);
  if (runs.empty()) return {};
  const auto first = run_of(all, runs.front());
  if (runs.size() < 2) {
    auto e = evaluate(first.values, first.gpu);
    add_repeats(all, e);
    return e;
  }
  auto again = compare_runs(all, runs[0], runs[1]);
  auto e = evaluate(first.values, first.gpu, again.expectations);
  add_repeats(all, e);
  e.add(table_of_chance(all));
  e.add(std::move(again.apart));
  return e;
}

// The facts of a latency whose links are barriers of the hardware; nothing for other points.
std::optional<known_facts> facts_of(const point& p) {
  const auto found = std::ranges::find(families(), p.subject, &probe_family::name);
  if (found == families().end() || p.word("quantity") != "latency" || link_of(*found) != "barrier")
    return std::nullopt;
  const auto& f = *found;
  const bool one_block = f.source == "cluster" && f.cluster == 1;
  return known_facts{{.origin = fact::origin::vendor,
                      .driver = fact::driver::device,
                      .scope = f.source == "warp"                 ? fact::scope::lanes
                               : f.source == "block" || one_block ? fact::scope::block
                                                                  : fact::scope::cluster,
                      .extent = fact::extent::everything,
                      .order = f.relaxed ? fact::order::none : fact::order::both},
                     "NVIDIA",
                     std::string(f.what)};
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
                         .facts_of = levels::facts_of,
                         .refuses = levels::refused};

}  // namespace mgsync
