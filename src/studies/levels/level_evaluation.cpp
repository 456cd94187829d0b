#include "src/studies/levels/level_evaluation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/results/frame/frame.hpp"
#include "src/studies/levels/known_answers.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

namespace {

using values = std::span<const level_value>;

auto is_of(std::string_view family, quantity what) {
  return [family, what](const level_value& v) { return v.family == family && v.quantity == what; };
}

// A value of a family as a table entry, with the label that must stand beside it, or why there is none.
table_entry shown(const level_value* v, std::string_view name, const this_gpu& gpu) {
  if (const auto found = gpu.not_checked.find(name); found != gpu.not_checked.end())
    return missing{"none: " + found->second};
  if (v == nullptr) return std::nullopt;
  if (!v->is_line) return missing{fmt::format("no line (residual {:.1f})", v->residual)};
  const auto label = label_of(family(v->family));
  return noted{v->value, label.empty() ? "" : fmt::format("({})", label)};
}

table_entry largest(values all, std::string_view name, const this_gpu& gpu, unsigned lanes = 0) {
  return shown(largest_throughput(all, name, lanes), name, gpu);
}

table warp_table(values all, const this_gpu& gpu, std::span<const warp_row> rows, figure_heading heading) {
  table t{std::move(heading),
          {"type",
           "probe",
           "latency V100 | >",
           "P100 | >",
           {gpu.name, ".2f"},
           "throughput V100 | .3f",
           "P100 | .3f",
           {gpu.name, ".3f"}}};
  for (const auto& row : rows)
    t.add({row.type, row.here.family, row.latency_cycles.v100, row.latency_cycles.p100,
           shown(find(all, row.here.family, quantity::latency, row.here.threads, row.here.lanes),
                 row.here.family, gpu),
           row.throughput.v100, row.throughput.p100, largest(all, row.here.family, gpu, row.here.lanes)});
  return t;
}

// Block barriers per us and SM: the largest over the shapes with blocks of that many threads; nothing where
// the clock is unknown.
std::optional<double> block_syncs_per_us(values all, double mhz, unsigned threads) {
  const auto* best = most(where(all, is_of("block_sync", quantity::throughput),
                                [threads](const auto& v) { return v.threads == threads; }),
                          &level_value::value);
  return best == nullptr || mhz == 0 ? std::nullopt
                                     : std::optional(best->value * mhz / ((threads + 31) / 32));
}

table table_of_blocks(values all, const this_gpu& gpu) {
  table t{{"table-5", "Block barriers (001, table 5)",
           "Latency in cycles of one block; barriers of blocks per us and SM, the largest over blocks per "
           "SM. V100's "
           "latencies are 20 + 2 x warps."},
          {"threads | >",
           "latency V100 | >",
           "P100 | >",
           {gpu.name, ".2f"},
           "throughput V100 | .3f",
           "P100 | .3f",
           {gpu.name, ".3f"}}};
  for (const auto& row : table_5())
    t.add({row.threads, row.latency_cycles.v100, row.latency_cycles.p100,
           shown(find(all, "block_sync", quantity::latency, row.threads), "block_sync", gpu),
           row.block_syncs_per_us.v100, row.block_syncs_per_us.p100,
           block_syncs_per_us(all, gpu.mhz, row.threads)});
  return t;
}

// Barriers of groups per cycle and SM, of which a warp has so many.
table_entry of_groups(values all, std::string_view name, const this_gpu& gpu, unsigned lanes,
                      unsigned of_a_warp) {
  const auto* best = largest_throughput(all, name, lanes);
  if (best == nullptr) return std::nullopt;
  auto groups = *best;
  groups.value *= of_a_warp;
  return shown(&groups, name, gpu);
}

table table_of_throughput(values all, const this_gpu& gpu) {
  table t{{"table-7", "Throughput (001, table 7)",
           "Tiles and coalesced groups: groups, of which a warp has 32 of size 1. As printed; the rows of "
           "coalesced groups of 1 and 32 contradict the report's own table 4."},
          {"type", "group size", "V100 | >", "P100 | >", {gpu.name, ".3f"}}};
  const auto warps_per_ns = [&](unsigned threads) -> std::optional<double> {
    const auto per_us = block_syncs_per_us(all, gpu.mhz, threads);
    return per_us ? std::optional(*per_us * ((threads + 31) / 32) / 1000) : std::nullopt;
  };
  for (const auto& row : table_7()) {
    const unsigned size = row.group_size == "1" ? 1 : row.group_size == "64" ? 64 : 32;
    table_entry here = std::nullopt;
    if (row.type.starts_with("Tile")) here = of_groups(all, "thread_group_sync", gpu, size, 32 / size);
    else if (row.type.starts_with("Coalesced")) here = of_groups(all, "coalesced_sync", gpu, size, 1);
    else if (row.group_size != "> 64") here = warps_per_ns(size);
    else if (const auto least = warps_per_ns(1024), some = warps_per_ns(128); least && some) {
      std::vector<double> wide{*least, *some};
      for (const unsigned threads : {256u, 512u})
        if (const auto more = warps_per_ns(threads)) wide.push_back(*more);
      const auto [low, high] = std::ranges::minmax(wide);
      here = range{low, high};
    }
    t.add({row.type, row.group_size, row.v100, row.p100, here});
  }
  return t;
}

const level_value* by_host(values all, const level_value& v) {
  return find(all, v.family, quantity::host, v.threads);
}

table table_of_clocks(values all, const this_gpu& gpu) {
  table t{{"clocks", "By both clocks",
           "Cycles of one barrier: the SM's counter over chains of different lengths, and the host's clock "
           "over two launches of different length."},
          {"probe", "threads | >", "cluster | >", "cycle counter | .2f", "host's clock | .2f",
           "host over counter | .3f"}};
  for (const auto& v : all)
    if (const auto* host = v.quantity == quantity::latency ? by_host(all, v) : nullptr;
        host != nullptr && !gpu.not_checked.contains(v.family))
      t.add({v.family, v.threads, v.cluster, v.value, host->value, host->value / v.value});
  return t;
}

// What the report planned, and what was done here.
table table_of_methods(values all) {
  table t{{"table-2", "Methods and metrics (001, table 2)",
           "Points of this run; grids and more are measured as barriers (mgsync --backend grid)."},
          {"level", "method of the report", "metric of the report", "cycle counter: latencies | >",
           "throughputs | >", "host's clock: latencies | >"}};
  const auto count = [&](std::string_view source, quantity what) {
    return std::ranges::count_if(
        all, [&](const auto& v) { return v.quantity == what && family(v.family).source == source; });
  };
  constexpr std::string_view rows[][4] = {
      {"warp", "Warp", "GPU based", "Latency and Throughput"},
      {"block", "Block", "GPU based and CPU based", "Latency and Throughput"},
      {"cluster", "Cluster", "-", "-"},
      {"memory", "Memory", "-", "-"}};
  for (const auto& [source, level, method, metric] : rows)
    t.add({level, method, metric, count(source, quantity::latency), count(source, quantity::throughput),
           count(source, quantity::host)});
  return t;
}

table table_of_all(values all, const this_gpu& gpu) {
  table t{{"levels", "All levels inside one GPU",
           "Latency of one link: the slope of cycles over chain lengths. The interval is that of the median "
           "over launches, "
           "for L2 and DRAM the extremes over SMs."},
          {"probe", "what", "threads | >", "lanes | >", "cluster | >", "cycles | .2f", "from | .2f",
           "to | .2f", "ns | .2f", "residual | .2f", "code"}};
  for (const auto& v : all) {
    if (v.quantity != quantity::latency || is_part_of_warp(v)) continue;
    const auto& f = family(v.family);
    const auto* wrong = at(gpu.not_checked, v.family);
    const auto label = label_of(f);
    t.add({v.family, v.where.empty() ? f.what : v.where, v.threads,
           noted{static_cast<double>(v.lanes), v.mask.empty() ? "" : fmt::format("({})", v.mask)}, v.cluster,
           wrong != nullptr ? missing{"none"}
           : v.is_line      ? table_entry(v.value)
                            : missing{"no line"},
           v.low, v.high, gpu.mhz > 0 && v.is_line ? table_entry(v.value * 1000 / gpu.mhz) : std::nullopt,
           v.residual,
           wrong != nullptr ? *wrong
           : label.empty()  ? "checked"
                            : std::string(label)});
  }
  return t;
}

// The values that decide expectations: those of probes that passed the code check.
struct checked_values {
  std::vector<level_value> all;
  const this_gpu& gpu;

  // A latency by name, or why there is none.
  input operator()(const std::string& name, unsigned lanes = 0) const {
    if (const auto* v = find(all, name, quantity::latency, 32, lanes)) return {v->value};
    if (const auto* why = at(gpu.not_checked, name))
      return {std::nullopt, fmt::format("the code of {} is not what it says: {}", name, *why)};
    const auto* why = at(gpu.not_measured, name);
    return {std::nullopt, why == nullptr ? name + " was not measured here" : name + ": " + *why};
  }
};

void about_shuffles(const checked_values& of, expectations& out) {
  const values all = of.all;
  std::vector<double> tiles;
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u, 32u})
    if (const auto* v = find(all, "tile_shuffle_" + std::to_string(size), quantity::latency))
      tiles.push_back(v->value);
  if (!tiles.empty()) {
    const auto [low, high] = std::ranges::minmax(tiles);
    out.push_back({"a shuffle on a tile, cycles", "20 to 30", fmt::format("{:.2f} to {:.2f}", low, high),
                   low >= 20 && high <= 30});
    out.push_back({"a shuffle takes the same for all tile sizes", "0.5 cycles",
                   fmt::format("{:.2f} apart", high - low), high - low <= 0.5});
  }
  if (const auto* v = largest_throughput(all, "tile_shuffle_32"))
    out.push_back(
        {"shuffles of warps per cycle and SM", "0.9", fmt::format("{:.3f}", v->value), v->value >= 0.9});
  const auto beside_a_tile = [&](const char* what, const input& one, const char* bound, bool at_most) {
    expect(out, what, bound, {one, of("tile_shuffle_32")}, [at_most](std::span<const double> v) {
      const double times = v[0] / v[1];
      return judgement{fmt::format("{:.2f} times", times), at_most ? times <= 1.5 : times >= 3};
    });
  };
  beside_a_tile("a shuffle on a full coalesced group beside a tile's", of("coalesced_shuffle", 32),
                "at most 1.5 times", true);
  // This value is of library code, which is not code-checked; the expectation is about the library too.
  if (const auto* part = least(where(all, is_of("coalesced_shuffle", quantity::latency),
                                     [](const auto& v) { return v.lanes < 32; }),
                               &level_value::value))
    beside_a_tile("on a part of a warp beside a tile's", {part->value}, "at least 3 times", false);
}

// Expects that the SM's cycle counter and the host's clock agree on one point.
void add_both_clocks(values all, const level_value& v, std::string what, int digits, double share,
                     expectations& out) {
  if (const auto* host = by_host(all, v); host != nullptr)
    out.push_back({std::move(what), fmt::format("within {:.0f} %", 100 * share),
                   fmt::format("{:.{}f} and {:.{}f} cycles", v.value, digits, host->value, digits),
                   is_within(host->value, v.value, share)});
}

void about_blocks(const checked_values& of, expectations& out) {
  const values all = of.all;
  const auto line = line_over_warps(all, "block_sync");
  if (line.points >= 3)
    out.push_back({"the block barrier is a line over warps", "slope 2.0 +- 0.1 cycles, R^2 above 0.99",
                   fmt::format("{:.2f} + {:.3f} x warps, R^2 {:.4f}, {} block sizes", line.intercept,
                               line.slope, line.r_squared, line.points),
                   std::abs(line.slope - 2) <= 0.1 && line.r_squared > 0.99});
  // The programming guide gives 16 threads per cycle and SM for compute capability 7.0 and later.
  if (const auto* best = largest_throughput(all, "block_sync"))
    out.push_back(
        {"the block barrier's throughput saturates at the guide's 0.5 barriers of warps per cycle and SM",
         "within 10 %",
         fmt::format("{:.3f}, {} blocks of {} threads", best->value, best->blocks_per_sm, best->threads),
         is_within(best->value, 0.5, 0.1)});
  for (const auto* v : where(all, is_of("block_sync", quantity::latency)))
    add_both_clocks(all, *v, fmt::format("the block barrier of {} threads: both clocks", v->threads), 2, 0.03,
                    out);
}

// The label "no instruction" comes from the machine code: only NOPs stand between the clock reads.
void about_no_instruction(const checked_values& of, expectations& out) {
  const values all = of.all;
  for (const auto* const name : {"tile_sync_32", "syncwarp_full", "coalesced_sync"})
    if (const auto* v = find(all, name, quantity::latency, 32, 32); v != nullptr)
      out.push_back({fmt::format("{}: of a full warp whose lanes are together", name),
                     "labelled 'no instruction', below 2 cycles",
                     fmt::format("{:.2f} cycles: {}", v->value, label_of(family(name))),
                     label_of(family(name)) == "no instruction" && v->value < 2});
  if (const auto* apart = find(all, "syncwarp_diverged", quantity::latency); apart != nullptr)
    out.push_back({"a barrier of lanes that come from two branches", "",
                   fmt::format("{:.2f} cycles", apart->value), std::nullopt, "nobody says what it takes"});
}

// If every link takes equally long, the time of a chain is linear in its length. Only for single warps: with
// several, the last warp to arrive and the first to leave differ from pass to pass.
void about_residuals(const checked_values& of, expectations& out) {
  const values all = of.all;
  const auto is_line = [](const level_value& v) {
    const auto& f = family(v.family);
    return v.quantity == quantity::latency && f.source == "warp" && f.kind() == probes::link_kind::chain;
  };
  if (const auto* worst = most(where(all, is_line), &level_value::residual))
    out.push_back({"chains of operations of a warp: a length's distance from the line", "below 0.1 cycles",
                   fmt::format("{:.3f} at most ({})", worst->residual, worst->family),
                   worst->residual < 0.1});
}

void about_clusters(const checked_values& of, expectations& out) {
  const values all = of.all;
  std::vector<double> small;
  for (const unsigned size : {2u, 4u, 8u, 16u}) {
    const auto name = [size](const char* order) { return fmt::format("cluster_{}_{}", order, size); };
    expect(out, fmt::format("cluster of {}: relaxed beside release", size), "at least 2 times faster",
           {of(name("relaxed")), of(name("release"))}, [](std::span<const double> v) {
             return judgement{fmt::format("{:.1f} and {:.1f} cycles", v[0], v[1]), v[0] * 2 <= v[1]};
           });
    const auto* release = find(all, name("release"), quantity::latency);
    const auto* relaxed = find(all, name("relaxed"), quantity::latency);
    if (size <= 8 && release != nullptr) small.push_back(release->value);
    for (const auto* v : {release, relaxed})
      if (v != nullptr) add_both_clocks(all, *v, v->family + ": both clocks", 1, 0.05, out);
  }
  if (small.empty()) return;
  const auto [low, high] = std::ranges::minmax(small);
  out.push_back({"clusters: release from 2 to 8 blocks", "flat within 15 %",
                 fmt::format("{:.1f} to {:.1f} cycles", low, high), high <= 1.15 * low});
}

void about_memory(const checked_values& of, expectations& out) {
  const values all = of.all;
  expect(out, "shared memory: the published 29.0 cycles hold address arithmetic, one LDS is less",
         "one LDS below 28, with the address 29 +- 1.5", {of("shared_chase"), of("shared_chase_index")},
         [](std::span<const double> v) {
           return judgement{fmt::format("one LDS {:.2f}, with the address {:.2f}", v[0], v[1]),
                            v[0] < 28 && std::abs(v[1] - 29) < 1.5};
         });
  for (const auto* const place : {"L2", "DRAM"})
    if (const auto* v = find(all, "l2_chase", quantity::latency, 32, 0, place))
      out.push_back(
          {fmt::format("{} latency, with its spread over SMs", place), "",
           fmt::format("{:.0f} cycles, {:.0f} to {:.0f} over {} SMs", v->value, v->low, v->high, v->sms),
           std::nullopt, "nobody says what it takes"});
}

}  // namespace

expectations expectations_of(values all, const this_gpu& gpu) {
  checked_values checked{{}, gpu};
  for (const auto& v : all)
    if (!gpu.not_checked.contains(v.family) && v.is_line) checked.all.push_back(v);
  expectations out;
  for (auto* const about :
       {about_shuffles, about_no_instruction, about_residuals, about_blocks, about_clusters, about_memory})
    about(checked, out);
  return out;
}

evaluation evaluate(values all, const this_gpu& gpu, std::span<const expectation> further) {
  evaluation e;
  auto asked = expectations_of(all, gpu);
  asked.insert(asked.end(), further.begin(), further.end());
  const auto judged = std::ranges::count_if(asked, [](const auto& one) { return one.holds.has_value(); });
  if (judged > 0)
    e.sentences.push_back(
        fmt::format("{} of {} statements about the levels inside one GPU hold.",
                    std::ranges::count_if(asked, [](const auto& one) { return one.holds == true; }), judged));
  for (const auto& one : asked)
    if (one.holds == false)
      e.sentences.push_back(
          fmt::format("A finding, not as expected: {} ({}): {}.", one.text, one.bound, one.seen));
  e.add({"acceptance", "What must hold",
         "Evaluated from the figures of this table's own results; code-checked probes only."},
        std::move(asked));
  e.add(warp_table(all, gpu, table_ii(),
                   {"table-ii", "Warps and blocks (000, table II)",
                    "Latency in cycles; warp operations per cycle and SM, the largest over shapes."}));
  e.add(table_of_methods(all));
  e.add(warp_table(all, gpu, table_4(),
                   {"table-4", "Warps (001, table 4)",
                    "The report's tile is the group of run-time size; its throughput is that of size 32."}));
  e.add(table_of_blocks(all, gpu));
  e.add(table_of_throughput(all, gpu));
  e.add(table_of_lanes(all));
  e.add(table_of_clocks(all, gpu));
  e.add(table_of_all(all, gpu));
  add_figures(all, gpu, e);
  return e;
}

}  // namespace mgsync::levels
