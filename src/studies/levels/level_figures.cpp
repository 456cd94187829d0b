#include "src/studies/levels/level_evaluation.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "src/harness/methods/slope.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/levels/known_answers.hpp"
#include "src/studies/levels/probe_checker.hpp"

namespace mgsync::levels {

namespace {

auto of_probe(std::string_view name, quantity what) {
  return [name, what](const level_value& v) { return v.family == name && v.quantity == what; };
}

chart_point over_warps(const level_value& v) {
  return {static_cast<double>(v.warps_per_sm()), v.value, v.low, v.high};
}

// Adds the papers' two GPUs, from the rows of table 5 of 001.
void add_papers(chart& c, std::string_view which, double (*of)(const block_row&, double pair_of_gpus::*)) {
  for (const auto& [name, gpu] : {std::pair{"V100", &pair_of_gpus::v100}, {"P100", &pair_of_gpus::p100}}) {
    curve known{fmt::format("{}{}", name, which), {}, true};
    for (const auto& row : table_5()) known.points.push_back({row.threads / 32.0, of(row, gpu)});
    c.curves.push_back(std::move(known));
  }
}

chart throughput_over_warps(std::span<const level_value> all, const this_gpu& gpu) {
  chart c{{"figure-4", "Block barrier: barriers of warps per cycle",
           "Over the warps of an SM, of blocks of one size each (000, figure 4). Of V100 and P100 the "
           "papers' text has the largest of each "
           "block size alone: it is drawn at the warps of one such block."},
          {"warps per SM"},
          {"barriers of warps per cycle and SM"},
          {}};
  const auto shapes = where(all, of_probe("block_sync", quantity::throughput));
  for (const auto& [threads, some] : by(shapes, &level_value::threads)) {
    curve one{fmt::format("{}, {} threads", gpu.name, threads), {}};
    for (const auto* v : some) one.points.push_back(over_warps(*v));
    std::ranges::sort(one.points, {}, &chart_point::x);
    c.curves.push_back(std::move(one));
  }
  add_papers(c, ", largest", [](const block_row& row, double pair_of_gpus::*on) {
    return warp_syncs_per_cycle(row.block_syncs_per_us.*on, row.threads, clock_mhz().*on);
  });
  return c;
}

chart latency_over_warps(std::span<const level_value> all, const this_gpu& gpu) {
  chart c{{"figure-6", "Block barrier: latency over warps", "One block on one SM (001, figure 6)."},
          {"warps per SM"},
          {"latency (cycles)"},
          {}};
  for (const auto* const name :
       {"block_sync", "named_sync", "barrier_popc", "mbarrier_test_wait", "mbarrier_try_wait"}) {
    curve one{fmt::format("{}, {}", gpu.name, name), {}};
    for (const auto* v : where(all, of_probe(name, quantity::latency), std::mem_fn(&level_value::is_line)))
      one.points.push_back(over_warps(*v));
    std::ranges::sort(one.points, {}, &chart_point::x);
    if (!one.points.empty()) c.curves.push_back(std::move(one));
  }
  add_papers(c, "", [](const block_row& row, double pair_of_gpus::*on) { return row.latency_cycles.*on; });
  return c;
}

}  // namespace

void add_figures(std::span<const level_value> all, const this_gpu& gpu, evaluation& e) {
  e.figures.emplace_back(throughput_over_warps(all, gpu));
  e.figures.emplace_back(latency_over_warps(all, gpu));
}

void add_repeats(std::span<const result> all, evaluation& e) {
  chart c{{"repeats", "Cycles of a link over how often it is repeated",
           "The typical count of cycles of a chain over its links: it falls towards the slope, which is the "
           "latency, as reading the clock is shared by more links."},
          {"length of the chain (links)", true},
          {"latency over links (cycles)"},
          {}};
  for (const auto& [probe, threads] : {std::pair<std::string_view, unsigned>{"tile_shuffle_32", 32},
                                       {"syncwarp_diverged", 32},
                                       {"block_sync", 32},
                                       {"block_sync", 1024},
                                       {"shared_chase", 32}}) {
    const auto* r = first(all, is_measured_of("levels"), is_subject(probe), has("quantity", "latency"),
                          [threads = threads](const result& one) {
                            return one.point.number(axes::threads_per_block) == threads &&
                                   one.point.number("run").value_or(1) == 1;
                          });
    if (r == nullptr) continue;
    curve one{fmt::format("{}, {} threads", probe, threads), {}};
    for (const auto& [links, counts] : histograms_of(*r))
      one.points.push_back({static_cast<double>(links),
                            static_cast<double>(mode_of(counts)) / static_cast<double>(links),
                            {},
                            {},
                            {},
                            {},
                            short_key(r->point)});
    c.curves.push_back(std::move(one));
  }
  if (!c.curves.empty()) e.figures.emplace_back(std::move(c));
}

}  // namespace mgsync::levels
