// Prints the raw samples of all probes of this study, and of the chains of adds: for a machine at hand, until
// `mgsync study levels` does; or the tables of such a file.
//   levels_probe [LAUNCHES] > raw.csv
//   levels_probe raw.csv
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/studies/levels/level_evaluation.hpp"
#include "src/studies/levels/level_runs.hpp"
#include "src/studies/probes/arithmetic_code.hpp"

using namespace mgsync;

namespace {

void print_unrolled(unsigned launches) {
  std::string reason;
  const auto runner = probes::runner::load(probes::unrolled_images(), 0, reason);
  if (runner == nullptr) return fmt::print("# waived: unrolled adds: {}\n", reason);
  for (unsigned launch = 0; launch < launches; ++launch)
    for (const unsigned links : probes::unrolled_lengths) {
      probes::probe_order order;
      order.kernel = fmt::format("fp32_add_unrolled_{}", links);
      order.passes = 9;
      const auto saw = runner->run(order, reason);
      if (!saw) return fmt::print("# waived: {}: {}\n", order.kernel, reason);
      levels::raw_samples r;
      r.family = "fp32_add_unrolled";
      r.links = links;
      r.launch = launch;
      r.sm = saw->sm_at_start.front();
      r.host_ns = saw->host_ns;
      for (const auto cycles : saw->latency_cycles()) ++r.latency_cycles[cycles];
      fmt::print("{}\n", levels::to_csv(r));
    }
}

void print_adds(unsigned launches) {
  std::string reason;
  const auto runner = probes::runner::load(probes::arithmetic_images(), 0, reason);
  if (runner == nullptr) return fmt::print("# waived: adds: {}\n", reason);
  const auto image = machine_code::read_cubin(runner->loaded().bytes);
  const auto take = [&](const machine_code::expected_code& code, const std::string& family, unsigned links,
                        unsigned loops) {
    const auto verdict = machine_code::check_code(image, code);
    fmt::print("# code {} {} stalls {}\n", code.kernel, verdict.passed() ? "checked" : verdict.complaints.front(),
               verdict.stall_sum);
    for (unsigned launch = 0; launch < launches; ++launch) {
      probes::probe_order order;
      order.kernel = code.kernel;
      order.loops = loops;
      order.passes = 17;
      order.seed = launch + 1;
      const auto saw = runner->run(order, reason);
      if (!saw) return fmt::print("# waived: {}: {}\n", code.kernel, reason);
      levels::raw_samples r;
      r.family = family;
      r.links = links;
      r.launch = launch;
      r.sm = saw->sm_at_start.front();
      r.host_ns = saw->host_ns;
      for (const auto cycles : saw->latency_cycles()) ++r.latency_cycles[cycles];
      fmt::print("{}\n", levels::to_csv(r));
    }
  };
  print_unrolled(launches);
  for (const auto* const operation : {"fp32_add", "fp64_add", "int_add"}) {
    for (const unsigned links : probes::arithmetic_lengths)
      take(probes::expected_add_chain(operation, links), operation, links, 1);
    for (const unsigned loops : {2u, 10u, 22u, 40u, 102u, 202u})
      take(probes::expected_add_loop(operation), std::string(operation) + "_loop", loops * probes::arithmetic_loop_body,
           loops);
  }
}

void print_levels(unsigned launches) {
  levels::level_runs runs(
      0, launches,
      {[](const levels::raw_samples& r) { fmt::print("{}\n", levels::to_csv(r)); },
       [](const std::string& what, const std::string& reason) { fmt::print("# waived: {}: {}\n", what, reason); }});
  for (const auto& v : runs.check_code())
    fmt::print("# code {} {} {} instructions {} stalls {}\n", v.kernel,
               v.looked_at == machine_code::depth::full ? "in full" : "clocks only",
               v.passed() ? "checked" : v.complaints.front(), v.instructions, v.stall_sum);
  for (const auto& f : levels::families())
    if (f.source != "memory" || f.name.starts_with("shared") || f.name.starts_with("remote")) runs.latency(f);
  for (const auto* const name : {"coalesced_sync", "coalesced_shuffle", "syncwarp_mask"})
    for (const unsigned lanes : {1u, 2u, 5u, 16u, 31u})
      runs.latency(levels::family(name), 0, levels::first_lanes(lanes));
  for (const auto* const name :
       {"block_sync", "named_sync", "barrier_popc", "mbarrier_test_wait", "mbarrier_try_wait", "library_barrier"})
    for (const unsigned threads : {64u, 128u, 256u, 384u, 512u, 640u, 768u, 896u, 1024u})
      runs.latency(levels::family(name), threads);
  for (const unsigned size : {2u, 4u, 8u, 16u})
    for (const auto* const name : {"cluster_release_", "cluster_relaxed_"}) {
      runs.latency(levels::family(name + std::to_string(size)), 256);
      runs.cluster_by_both_clocks(levels::family(name + std::to_string(size)));
    }
  runs.memory();
  for (const auto* const name :
       {"tile_sync_32", "tile_shuffle_32", "tile_shuffle_8", "coalesced_shuffle", "coalesced_sync", "thread_group_sync",
        "redux_add", "ballot", "match_any", "match_all", "block_sync", "shared_chase"})
    for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u})
      for (const unsigned blocks : {1u, 2u, 4u, 8u, 16u, 32u})
        if (threads * blocks <= 2048) runs.throughput(levels::family(name), threads, blocks);
}

// Of "# clock 1979.74 MHz, ..." the number; 0 where there is no such line.
double clock_of(const std::string& text) {
  const std::string begin = "# clock ";
  return text.starts_with(begin) ? std::stod(text.substr(begin.size())) : 0;
}

void print_tables(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto raw = levels::from_csv(text);
  // The chains of adds are another study's.
  std::erase_if(
      raw, [](const levels::raw_samples& r) { return r.family.starts_with("fp") || r.family.starts_with("int_add"); });
  const auto values = levels::values_of(raw);
  levels::this_gpu gpu;
  gpu.mhz = clock_of(text);
  for (const auto& f : levels::families())
    if (const double ns = levels::host_ns_per_link(raw, f.name); ns > 0 && gpu.mhz > 0)
      gpu.host_cycles[f.name] = ns * gpu.mhz / 1000;
  const auto evaluated = levels::evaluate(values, gpu);
  for (const auto& s : evaluated.sentences) fmt::print("- {}\n", s);
  for (const auto& t : evaluated.tables) {
    fmt::print("\n### {}\n\n{}\n\n| {} |\n|{}\n", t.heading.title, t.heading.caption, fmt::join(t.columns, " | "),
               fmt::join(std::vector<std::string>(t.columns.size(), "---|"), ""));
    for (const auto& row : t.rows) fmt::print("| {} |\n", fmt::join(row, " | "));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::atoi(argv[1]) == 0) return print_tables(argv[1]), 0;
  const unsigned launches = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 3;
  const auto before = probes::measure_clock(0);
  fmt::print("# clock {:.2f} MHz, the global timer steps by {} ns\n{}\n", before.mhz, before.timer_step_ns,
             levels::csv_header());
  print_adds(launches);
  print_levels(launches);
  fmt::print("# clock at the end {:.2f} MHz\n", probes::measure_clock(0).mhz);
  return 0;
} catch (const std::exception& failure) {
  fmt::print(stderr, "levels_probe: {}\n", failure.what());
  return 1;
}
