#include "src/studies/levels/level_points.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

namespace mgsync::levels {

namespace {

constexpr std::uint32_t every_other = 0x55555555u;
constexpr unsigned sizes_of_blocks[] = {64, 128, 256, 384, 512, 640, 768, 896, 1024};
// Barriers of a block that are measured over the size of the block.
constexpr std::string_view block_barriers[] = {"block_sync",         "named_sync",        "barrier_popc",
                                               "mbarrier_test_wait", "mbarrier_try_wait", "library_barrier"};
// Groups of lanes that are measured over the number of lanes.
constexpr std::string_view groups_of_lanes[] = {"coalesced_sync", "coalesced_shuffle", "syncwarp_mask"};
constexpr std::string_view throughputs[] = {
    "tile_sync_32",    "tile_sync_1",    "tile_sync_2",       "tile_sync_4",    "tile_sync_8",
    "tile_sync_16",    "tile_shuffle_1", "tile_shuffle_2",    "tile_shuffle_4", "tile_shuffle_16",
    "tile_shuffle_32", "tile_shuffle_8", "coalesced_shuffle", "coalesced_sync", "thread_group_sync",
    "redux_add",       "ballot",         "match_any",         "match_all",      "block_sync",
    "named_sync",      "shared_chase"};
constexpr unsigned most_threads_of_sm = 2048, most_blocks_of_sm = 32;
// From this many threads on, the order in which the polls of an mbarrier queue depends on how a pass begins.
constexpr unsigned polled_in_any_order = 384;

bool is_barrier_of_blocks(const probe_family& f) {
  return (f.name.starts_with("cluster_release") || f.name.starts_with("cluster_relaxed")) && f.cluster > 1;
}

void add_latencies(const probe_family& f, std::vector<level_probe>& all) {
  level_probe one{.family = &f, .quantity = quantity::latency, .threads = f.threads};
  if (f.name == "l1_chase") one.where = "L1";
  if (f.name == "l2_chase") {
    for (const std::string_view where : {"L2", "L2-one-SM", "DRAM"}) {
      one.where = where;
      all.push_back(one);
    }
    return;
  }
  all.push_back(one);
  if (std::ranges::find(groups_of_lanes, f.name) != std::end(groups_of_lanes))
    for (unsigned size = 1; size < 32; ++size) {
      one.lanes = first_lanes(size);
      all.push_back(one);
      one.lanes = scattered_lanes(size);
      all.push_back(one);
      if (size != 16) continue;
      one.lanes = every_other;
      all.push_back(one);
    }
  if (std::ranges::find(block_barriers, f.name) != std::end(block_barriers))
    for (const unsigned threads : sizes_of_blocks) {
      one.threads = threads;
      one.left_free = {};
      all.push_back(one);
      if (!f.name.starts_with("mbarrier_") || threads < polled_in_any_order) continue;
      one.left_free = "start";
      all.push_back(one);
    }
  if (is_barrier_of_blocks(f)) {
    one.threads = 256;
    all.push_back(one);
    one.left_free = "place";
    all.push_back(one);
  }
}

// Groups of some lanes of a warp; of the group whose size is known at run time, its size.
void add_throughputs_of_parts(const probe_family& f, std::vector<level_probe>& all) {
  const bool by_lanes = f.name == "coalesced_sync" || f.name == "coalesced_shuffle";
  if (!by_lanes && f.name != "thread_group_sync") return;
  for (const unsigned lanes : {1u, 2u, 4u, 8u, 16u, 31u})
    for (const auto& [threads, blocks] :
         {std::pair{32u, 32u}, {256u, 4u}, {256u, 8u}, {1024u, 1u}, {1024u, 2u}})
      if (by_lanes || lanes != 31)
        all.push_back({.family = &f,
                       .quantity = quantity::throughput,
                       .threads = threads,
                       .blocks_per_sm = blocks,
                       .lanes = first_lanes(lanes)});
}

void add_throughputs(const probe_family& f, std::vector<level_probe>& all) {
  if (std::ranges::find(throughputs, f.name) == std::end(throughputs)) return;
  const bool every_shape = f.name == "block_sync";  // figure 4
  for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u}) {
    if (!every_shape && (threads == 64 || threads == 512)) continue;
    for (const unsigned blocks : {1u, 2u, 4u, 8u, 16u, 32u})
      if (threads * blocks <= most_threads_of_sm)
        all.push_back(
            {.family = &f, .quantity = quantity::throughput, .threads = threads, .blocks_per_sm = blocks});
    // More blocks than fit at once, twice and four times as many: the other half of figure 4.
    if (every_shape)
      for (const unsigned times : {2u, 4u})
        all.push_back({.family = &f,
                       .quantity = quantity::throughput,
                       .threads = threads,
                       .blocks_per_sm = times * std::min(most_threads_of_sm / threads, most_blocks_of_sm)});
  }
  add_throughputs_of_parts(f, all);
}

void add_by_host(const probe_family& f, std::vector<level_probe>& all) {
  level_probe one{.family = &f, .quantity = quantity::host, .threads = f.threads};
  if (is_barrier_of_blocks(f)) all.push_back(one);
  if (!f.has(probes::loop_256)) return;
  for (const unsigned threads : {32u, 256u, 1024u}) {
    one.threads = threads;
    all.push_back(one);
  }
}

}  // namespace

std::span<const probe_family> families() {
  const auto first = probes::probes_of(std::begin(all_levels)[0]),
             last = probes::probes_of(std::end(all_levels)[-1]);
  return {first.data(), last.data() + last.size()};
}

const probe_family& family(std::string_view name) {
  for (const auto& f : families())
    if (f.name == name) return f;
  throw std::invalid_argument("no probes called " + std::string(name));
}

std::uint32_t first_lanes(unsigned count) {
  if (count < 1 || count > 32)
    throw std::invalid_argument("a warp has 1 to 32 lanes, not " + std::to_string(count));
  return 0xffffffffu >> (32 - count);
}

unsigned level_probe::lane_count() const {
  return lanes == all_lanes ? family->lanes : static_cast<unsigned>(std::popcount(lanes));
}

std::uint32_t scattered_lanes(unsigned count) {
  if (count < 1 || count > 32)
    throw std::invalid_argument(fmt::format("a warp has 1 to 32 lanes, not {}", count));
  std::array<unsigned, 32> lanes{};
  std::iota(lanes.begin(), lanes.end(), 0u);
  std::mt19937 random(count);
  for (unsigned k = 0; k < count; ++k) std::swap(lanes[k], lanes[k + random() % (32 - k)]);
  std::uint32_t mask = 0;
  for (unsigned k = 0; k < count; ++k) mask |= 1u << lanes[k];
  return mask;
}

std::vector<level_probe> probes_of(std::string_view level, quantity what) {
  std::vector<level_probe> all;
  for (const auto& f : families()) {
    if (f.source != level) continue;
    if (what == quantity::latency) add_latencies(f, all);
    if (what == quantity::throughput) add_throughputs(f, all);
    if (what == quantity::host) add_by_host(f, all);
  }
  return all;
}

point point_of(const level_probe& one, unsigned run) {
  const auto& f = *one.family;
  point p;
  p.study = "levels";
  p.subject = f.name;
  p.device = topology::device::gpu;
  p.members = 1;
  p.group = {0};
  p.set("scope", std::string(f.source));
  p.set("quantity", std::string(to_string(one.quantity)));
  if (one.quantity == quantity::throughput)
    p.set(axes::blocks_per_sm, static_cast<double>(one.blocks_per_sm));
  else p.set(axes::blocks, static_cast<double>(f.cluster));
  p.set(axes::threads_per_block, static_cast<double>(one.threads));
  if (f.source == "warp") p.set("lanes", static_cast<double>(one.lane_count()));
  if (one.lanes != all_lanes && one.lanes != first_lanes(one.lane_count()))
    p.set("mask", fmt::format("{:08x}", one.lanes));
  if (!one.where.empty()) p.set("where", std::string(one.where));
  if (!one.left_free.empty()) p.set("left_free", std::string(one.left_free));
  if (run > 1) p.set("run", static_cast<double>(run));
  return p;
}

std::string_view link_of(const probe_family& f) {
  const auto kind = f.kind();
  if (kind == probes::link_kind::no_instruction) return "no instruction";
  if (kind == probes::link_kind::library) return "library code";
  return kind == probes::link_kind::barrier && f.source != "memory" ? "barrier" : "operation";
}

std::string_view label_of(const probe_family& f) {
  if (f.kind() == probes::link_kind::library) return "library code, not code-checked";
  return f.kind() == probes::link_kind::no_instruction ? "no instruction" : "";
}

}  // namespace mgsync::levels
