#include "src/studies/levels/level_evaluation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/studies/levels/known_answers.hpp"
#include "src/studies/levels/level_tables.hpp"
#include "src/studies/levels/probe_family.hpp"

namespace mgsync::levels {

namespace {

using values = std::span<const level_value>;

// A figure as a cell, with what must be said beside it.
std::string cell(const level_value* v, const this_gpu& gpu, int digits) {
  if (v == nullptr) return "-";
  if (const auto it = gpu.not_checked.find(v->family); it != gpu.not_checked.end())
    return "none: " + it->second;
  const auto label = label_of(family(v->family));
  return fmt::format("{:.{}f}{}{}", v->value, digits, label.empty() ? "" : " ",
                     label.empty() ? "" : fmt::format("({})", label));
}

const level_value* latency(values all, const counterpart& here) {
  return find(all, here.family, quantity::latency, here.threads, here.lanes);
}

table warp_table(values all, const this_gpu& gpu, std::span<const warp_row> rows, figure_heading heading) {
  table t{std::move(heading),
          {"type", "probe", "latency V100", "P100", gpu.name, "throughput V100", "P100", gpu.name},
          {},
          {false, false, true, true, true, true, true, true}};
  for (const auto& row : rows)
    t.rows.push_back({std::string(row.type), std::string(row.here.family),
                      fmt::format("{}", row.latency_cycles.v100), fmt::format("{}", row.latency_cycles.p100),
                      cell(latency(all, row.here), gpu, 2), fmt::format("{:.3f}", row.throughput.v100),
                      fmt::format("{:.3f}", row.throughput.p100),
                      cell(largest_throughput(all, row.here.family), gpu, 3)});
  return t;
}

// The fastest of the shapes with blocks of so many threads.
const level_value* block_throughput(values all, unsigned threads) {
  const level_value* best = nullptr;
  for (const auto& v : all)
    if (v.family == "block_sync" && v.quantity == quantity::throughput && v.threads == threads &&
        (best == nullptr || v.value > best->value))
      best = &v;
  return best;
}

// Block barriers per us and SM; empty where the clock is not known.
std::string block_syncs_per_us(const level_value* v, double mhz, unsigned threads) {
  if (v == nullptr || mhz == 0) return "-";
  return fmt::format("{:.3f}", v->value * mhz / ((threads + 31) / 32));
}

table table_of_blocks(values all, const this_gpu& gpu) {
  table t{{"table-5", "Block barriers (001, table 5)",
           "Latency in cycles of one block; barriers of blocks per us and SM, the largest over blocks per "
           "SM. V100's "
           "latencies are 20 + 2 x warps."},
          {"threads", "latency V100", "P100", gpu.name, "throughput V100", "P100", gpu.name},
          {},
          {true, true, true, true, true, true, true}};
  for (const auto& row : table_5())
    t.rows.push_back({std::to_string(row.threads), fmt::format("{}", row.latency_cycles.v100),
                      fmt::format("{}", row.latency_cycles.p100),
                      cell(find(all, "block_sync", quantity::latency, row.threads), gpu, 2),
                      fmt::format("{:.3f}", row.block_syncs_per_us.v100),
                      fmt::format("{:.3f}", row.block_syncs_per_us.p100),
                      block_syncs_per_us(block_throughput(all, row.threads), gpu.mhz, row.threads)});
  return t;
}

table table_of_throughput(values all, const this_gpu& gpu) {
  table t{{"table-7", "Throughput (001, table 7)",
           "As printed; the rows of coalesced groups of 1 and 32 contradict the report's own table 4."},
          {"type", "group size", "V100", "P100", gpu.name},
          {},
          {false, false, true, true, true}};
  for (const auto& row : table_7()) {
    std::string here = "-";
    if (row.type.starts_with("Tile")) {
      if (const auto* v = largest_throughput(all, "thread_group_sync")) here = cell(v, gpu, 3);
    } else if (row.type.starts_with("Coalesced")) {
      here = cell(largest_throughput(all, "coalesced_sync"), gpu, 3);
    } else if (gpu.mhz > 0) {
      const unsigned threads = row.group_size == "32" ? 32 : row.group_size == "64" ? 64 : 1024;
      if (const auto* v = block_throughput(all, threads))
        here = fmt::format("{:.3f}", v->value * gpu.mhz / 1000);
    }
    t.rows.push_back({std::string(row.type), std::string(row.group_size), std::string(row.v100),
                      std::string(row.p100), here});
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
          {"probe", "threads", "cluster", "cycle counter", "host's clock", "host over counter"},
          {},
          {false, true, true, true, true, true}};
  for (const auto& v : all) {
    const auto* host =
        v.quantity == quantity::latency && !gpu.not_checked.contains(v.family) ? by_host(all, v) : nullptr;
    if (host != nullptr)
      t.rows.push_back({v.family, std::to_string(v.threads), std::to_string(v.cluster),
                        fmt::format("{:.2f}", v.value), fmt::format("{:.2f}", host->value),
                        fmt::format("{:.3f}", host->value / v.value)});
  }
  return t;
}

// What the report planned, and what was done here.
table table_of_methods(values all) {
  table t{{"table-2", "Methods and metrics (001, table 2)",
           "Points of this run; grids and more are measured as barriers (mgsync --backend grid)."},
          {"level", "method of the report", "metric of the report", "cycle counter: latencies", "throughputs",
           "host's clock: latencies"},
          {},
          {false, false, false, true, true, true}};
  const auto count = [&](std::string_view source, quantity what) {
    return std::to_string(std::ranges::count_if(
        all, [&](const auto& v) { return v.quantity == what && family(v.family).source == source; }));
  };
  constexpr std::string_view rows[][4] = {
      {"warp", "Warp", "GPU based", "Latency and Throughput"},
      {"block", "Block", "GPU based and CPU based", "Latency and Throughput"},
      {"cluster", "Cluster", "-", "-"},
      {"memory", "Memory", "-", "-"}};
  for (const auto& [source, level, method, metric] : rows)
    t.rows.push_back({std::string(level), std::string(method), std::string(metric),
                      count(source, quantity::latency), count(source, quantity::throughput),
                      count(source, quantity::host)});
  return t;
}

table table_of_all(values all, const this_gpu& gpu) {
  table t{{"levels", "All levels inside one GPU",
           "Latency of one link: the slope of cycles over chain lengths. The interval is that of the median "
           "over launches, "
           "for L2 and DRAM the extremes over SMs."},
          {"probe", "what", "threads", "lanes", "cluster", "cycles", "from", "to", "ns", "residual", "code"},
          {},
          {false, false, true, true, true, true, true, true, true, true, false}};
  for (const auto& v : all) {
    if (v.quantity != quantity::latency || is_part_of_warp(v)) continue;
    const auto& f = family(v.family);
    const auto wrong = gpu.not_checked.find(v.family);
    const auto label = label_of(f);
    t.rows.push_back({v.family, v.where.empty() ? std::string(f.what) : v.where, std::to_string(v.threads),
                      v.mask.empty() ? std::to_string(v.lanes) : fmt::format("{} ({})", v.lanes, v.mask),
                      std::to_string(v.cluster),
                      wrong == gpu.not_checked.end() ? fmt::format("{:.2f}", v.value) : "none",
                      fmt::format("{:.2f}", v.low), fmt::format("{:.2f}", v.high),
                      gpu.mhz > 0 ? fmt::format("{:.2f}", v.value * 1000 / gpu.mhz) : "-",
                      fmt::format("{:.2f}", v.residual),
                      wrong != gpu.not_checked.end() ? wrong->second
                      : label.empty()                ? "checked"
                                                     : std::string(label)});
  }
  return t;
}

chart throughput_over_warps(values all, const this_gpu& gpu) {
  chart c{{"figure-4", "Block barrier: barriers of warps per cycle",
           "Over the warps of an SM, of blocks of one size each (000, figure 4). Of V100 and P100 the "
           "papers' text has the largest of each "
           "block size alone: it is drawn at the warps of one such block."},
          {"warps per SM"},
          {"barriers of warps per cycle and SM"},
          {}};
  std::map<unsigned, curve> by_threads;
  for (const auto& v : all) {
    if (v.family != "block_sync" || v.quantity != quantity::throughput) continue;
    auto& one = by_threads[v.threads];
    one.name = fmt::format("{}, {} threads", gpu.name, v.threads);
    one.points.push_back({static_cast<double>(v.warps_per_sm()), v.value, v.low, v.high, {}, {}});
  }
  for (auto& [threads, one] : by_threads) {
    std::ranges::sort(one.points, {}, &chart_point::x);
    c.curves.push_back(std::move(one));
  }
  curve v100{"V100, largest", {}, true}, p100{"P100, largest", {}, true};
  for (const auto& row : table_5()) {
    v100.points.push_back({row.threads / 32.0,
                           warp_syncs_per_cycle(row.block_syncs_per_us.v100, row.threads, clock_mhz.v100),
                           {},
                           {},
                           {},
                           {}});
    p100.points.push_back({row.threads / 32.0,
                           warp_syncs_per_cycle(row.block_syncs_per_us.p100, row.threads, clock_mhz.p100),
                           {},
                           {},
                           {},
                           {}});
  }
  c.curves.push_back(std::move(v100));
  c.curves.push_back(std::move(p100));
  return c;
}

chart latency_over_warps(values all, const this_gpu& gpu) {
  chart c{{"figure-6", "Block barrier: latency over warps", "One block on one SM (001, figure 6)."},
          {"warps per SM"},
          {"cycles"},
          {}};
  for (const auto* const name :
       {"block_sync", "named_sync", "barrier_popc", "mbarrier_test_wait", "mbarrier_try_wait"}) {
    curve one{fmt::format("{}, {}", gpu.name, name), {}};
    for (const auto& v : all)
      if (v.family == name && v.quantity == quantity::latency)
        one.points.push_back({static_cast<double>(v.warps_per_sm()), v.value, v.low, v.high, {}, {}});
    std::ranges::sort(one.points, {}, &chart_point::x);
    if (!one.points.empty()) c.curves.push_back(std::move(one));
  }
  curve v100{"V100", {}, true}, p100{"P100", {}, true};
  for (const auto& row : table_5()) {
    v100.points.push_back({row.threads / 32.0, row.latency_cycles.v100, {}, {}, {}, {}});
    p100.points.push_back({row.threads / 32.0, row.latency_cycles.p100, {}, {}, {}, {}});
  }
  c.curves.push_back(std::move(v100));
  c.curves.push_back(std::move(p100));
  return c;
}

// Statements.
using list = std::vector<statement>;

void about_shuffles(values all, list& out) {
  std::vector<double> tiles;
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u, 32u})
    if (const auto* v = find(all, "tile_shuffle_" + std::to_string(size), quantity::latency))
      tiles.push_back(v->value);
  if (!tiles.empty()) {
    const auto [low, high] = std::ranges::minmax(tiles);
    out.push_back({"a shuffle on a tile takes 20 to 30 cycles", fmt::format("{:.2f} to {:.2f}", low, high),
                   low >= 20 && high <= 30});
    out.push_back({"a shuffle takes the same for all tile sizes, within 0.5 cycles",
                   fmt::format("{:.2f} apart", high - low), high - low <= 0.5});
  }
  if (const auto* v = largest_throughput(all, "tile_shuffle_32"))
    out.push_back({"shuffles reach 0.9 warp operations per cycle and SM", fmt::format("{:.3f}", v->value),
                   v->value >= 0.9});
  const auto* tile = find(all, "tile_shuffle_32", quantity::latency);
  const auto* whole = find(all, "coalesced_shuffle", quantity::latency, 32, 32);
  if (tile == nullptr) return;
  if (whole != nullptr)
    out.push_back({"a shuffle on a full coalesced group takes at most 1.5 times a tile's",
                   fmt::format("{:.2f} times", whole->value / tile->value),
                   whole->value <= 1.5 * tile->value});
  // Library code has no checked figure, but the claim is the library's.
  const level_value* part = nullptr;
  for (const auto& v : all)
    if (v.family == "coalesced_shuffle" && v.quantity == quantity::latency && v.lanes < 32 &&
        (part == nullptr || v.value < part->value))
      part = &v;
  if (part != nullptr)
    out.push_back({"on a part of a warp it takes at least 3 times a tile's",
                   fmt::format("{:.2f} times", part->value / tile->value), part->value >= 3 * tile->value});
}

void about_blocks(values all, list& out) {
  const auto line = line_over_warps(all, "block_sync");
  if (line.points >= 3)
    out.push_back({"the block barrier is a line over warps, slope 2.0 +- 0.1 cycles, R^2 above 0.99",
                   fmt::format("{:.2f} + {:.3f} x warps, R^2 {:.4f}, {} block sizes", line.intercept,
                               line.slope, line.r_squared, line.points),
                   std::abs(line.slope - 2) <= 0.1 && line.r_squared > 0.99});
  // 16 threads per cycle and SM, the guide says of compute capability 7.0 and later.
  if (const auto* most = largest_throughput(all, "block_sync"))
    out.push_back(
        {"the block barrier's throughput saturates within 10 % of the guide's 0.5 barriers of warps per "
         "cycle and SM",
         fmt::format("{:.3f}, {} blocks of {} threads", most->value, most->blocks_per_sm, most->threads),
         std::abs(most->value / 0.5 - 1) <= 0.1});
  for (const auto& v : all)
    if (const auto* host =
            v.family == "block_sync" && v.quantity == quantity::latency ? by_host(all, v) : nullptr;
        host != nullptr)
      out.push_back({fmt::format("the block barrier of {} threads: both clocks within 3 %", v.threads),
                     fmt::format("{:.2f} and {:.2f} cycles", v.value, host->value),
                     std::abs(host->value / v.value - 1) <= 0.03});
}

// The label comes from the machine code: NOPs between the clock reads, and nothing else.
void about_no_instruction(values all, list& out) {
  for (const auto* const name : {"tile_sync_32", "syncwarp_full", "coalesced_sync"})
    if (const auto* v = find(all, name, quantity::latency, 32, 32); v != nullptr)
      out.push_back(
          {fmt::format("{}: of a full warp whose lanes are together, labelled 'no instruction'", name),
           fmt::format("{:.2f} cycles: {}", v->value, label_of(family(name))),
           label_of(family(name)) == "no instruction" && v->value < 2});
  if (const auto* apart = find(all, "syncwarp_diverged", quantity::latency); apart != nullptr)
    out.push_back({"a barrier of lanes that come from two branches",
                   fmt::format("{:.2f} cycles", apart->value), std::nullopt});
}

// A chain of which every link takes the same is a line. Of one warp: where several come together, which is
// the last to arrive and the first to leave differs from pass to pass.
void about_residuals(values all, list& out) {
  const level_value* worst = nullptr;
  for (const auto& v : all) {
    const auto& f = family(v.family);
    const bool is_line = f.source == "warp" && f.kind == kind::chain;
    if (v.quantity == quantity::latency && is_line && (worst == nullptr || v.residual > worst->residual))
      worst = &v;
  }
  if (worst != nullptr)
    out.push_back({"chains of operations of a warp: no length is off the line by 0.1 cycles",
                   fmt::format("{:.3f} at most ({})", worst->residual, worst->family),
                   worst->residual < 0.1});
}

void about_clusters(values all, list& out) {
  double least = 0, most = 0;
  for (const unsigned size : {2u, 4u, 8u, 16u}) {
    const auto release_name = fmt::format("cluster_release_{}", size),
               relaxed_name = fmt::format("cluster_relaxed_{}", size);
    const auto* release = find(all, release_name, quantity::latency);
    const auto* relaxed = find(all, relaxed_name, quantity::latency);
    if (release == nullptr || relaxed == nullptr) continue;
    out.push_back({fmt::format("cluster of {}: relaxed at least 2 times faster than release", size),
                   fmt::format("{:.1f} and {:.1f} cycles", relaxed->value, release->value),
                   relaxed->value * 2 <= release->value});
    if (size <= 8) {
      least = least == 0 ? release->value : std::min(least, release->value);
      most = std::max(most, release->value);
    }
    for (const auto* v : {release, relaxed})
      if (const auto* host = by_host(all, *v); host != nullptr)
        out.push_back({fmt::format("{}: both clocks within 5 %", v->family),
                       fmt::format("{:.1f} and {:.1f} cycles", v->value, host->value),
                       std::abs(host->value / v->value - 1) <= 0.05});
  }
  if (least > 0)
    out.push_back({"clusters: release flat within 15 % from 2 to 8 blocks",
                   fmt::format("{:.1f} to {:.1f} cycles", least, most), most <= 1.15 * least});
}

void about_memory(values all, list& out) {
  const auto* pure = find(all, "shared_chase", quantity::latency);
  const auto* index = find(all, "shared_chase_index", quantity::latency);
  if (pure != nullptr && index != nullptr)
    out.push_back({"shared memory: the published 29.0 cycles hold address arithmetic, one LDS is less",
                   fmt::format("one LDS {:.2f}, with the address {:.2f}", pure->value, index->value),
                   pure->value < 28 && std::abs(index->value - 29) < 1.5});
  for (const auto* const where : {"L2", "DRAM"})
    if (const auto* v = find(all, "l2_chase", quantity::latency, 32, 0, where))
      out.push_back(
          {fmt::format("{} latency, with its spread over SMs", where),
           fmt::format("{:.0f} cycles, {:.0f} to {:.0f} over {} SMs", v->value, v->low, v->high, v->sms),
           std::nullopt});
}

}  // namespace

std::vector<statement> statements(values all, const this_gpu& gpu) {
  // Only what is what it says can hold or fail anything.
  std::vector<level_value> checked;
  for (const auto& v : all)
    if (!gpu.not_checked.contains(v.family)) checked.push_back(v);
  list out;
  about_shuffles(checked, out);
  about_no_instruction(checked, out);
  about_residuals(checked, out);
  about_blocks(checked, out);
  about_clusters(checked, out);
  about_memory(checked, out);
  return out;
}

evaluation evaluate(values all, const this_gpu& gpu, std::span<const statement> further) {
  evaluation e;
  auto asked = statements(all, gpu);
  asked.insert(asked.end(), further.begin(), further.end());
  table acceptances{{"acceptance", "What must hold",
                     "Evaluated from the figures of this table's own results; code-checked probes only."},
                    {"statement", "seen", "outcome"},
                    {},
                    {false, false, false}};
  std::size_t hold = 0, tested = 0;
  for (const auto& s : asked) {
    acceptances.rows.push_back({s.what, s.seen, !s.holds ? "reported" : *s.holds ? "passed" : "failed"});
    if (!s.holds) continue;
    ++tested;
    hold += *s.holds;
  }
  if (tested > 0)
    e.sentences.push_back(
        fmt::format("{} of {} statements about the levels inside one GPU hold.", hold, tested));
  for (const auto& s : asked)
    if (s.holds && !*s.holds)
      e.sentences.push_back(fmt::format("A finding, not as expected: {}: {}.", s.what, s.seen));
  if (!acceptances.rows.empty()) e.tables.push_back(std::move(acceptances));
  e.tables.push_back(
      warp_table(all, gpu, table_ii(),
                 {"table-ii", "Warps and blocks (000, table II)",
                  "Latency in cycles; warp operations per cycle and SM, the largest over shapes."}));
  e.tables.push_back(table_of_methods(all));
  e.tables.push_back(
      warp_table(all, gpu, table_4(),
                 {"table-4", "Warps (001, table 4)",
                  "The report's tile is the group of run-time size; its throughput is that of size 32."}));
  e.tables.push_back(table_of_blocks(all, gpu));
  e.tables.push_back(table_of_throughput(all, gpu));
  if (auto lanes = table_of_lanes(all); !lanes.rows.empty()) e.tables.push_back(std::move(lanes));
  if (auto clocks = table_of_clocks(all, gpu); !clocks.rows.empty()) e.tables.push_back(std::move(clocks));
  e.tables.push_back(table_of_all(all, gpu));
  e.figures.emplace_back(throughput_over_warps(all, gpu));
  e.figures.emplace_back(latency_over_warps(all, gpu));
  return e;
}

}  // namespace mgsync::levels
