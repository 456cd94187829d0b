#include "src/studies/timeline/region_runs.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "src/results/files/chrome_trace.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::timelines {

double typical_cycles(std::span<const warp_pass> seen, unsigned warps) {
  std::vector<double> all;
  for (std::size_t i = warps; i < seen.size(); ++i)
    if (seen[i].end != 0 && seen[i].begin != 0)
      all.push_back(static_cast<double>(seen[i].end - seen[i].begin));
  if (all.empty()) throw std::invalid_argument("a region without a second pass");
  return middle_one(std::move(all));
}

recording recording_of_pass(std::span<const warp_pass> one_pass, std::uint32_t sm) {
  recording r{"cycles", "warp", {}, {{"START"}, {"STOP", 0, "store, barrier, load"}}, {}};
  std::uint64_t first = ~std::uint64_t{0};
  for (const auto& p : one_pass) first = std::min(first, p.begin);
  for (std::uint32_t w = 0; w < one_pass.size(); ++w) {
    r.workers.push_back(fmt::format("warp {}", w));
    r.events.push_back({static_cast<double>(one_pass[w].begin - first), w, 0, 0, one_pass[w].begin, 0, sm});
    r.events.push_back({static_cast<double>(one_pass[w].end - first), w, 1, 0, one_pass[w].end, 0, sm});
  }
  return r;
}

region_figures figures_of(const seen& run) {
  const auto of = [&](const char* kernel) { return value_of(run, kernel); };
  region_figures f;
  const auto slope = [&](const std::string& chain) {
    return (of((chain + "_32").c_str()) - of((chain + "_4").c_str())) / 28;
  };
  f.cycles = {slope("stores_and_loads"), slope("barriers"),      slope("chased_loads"),   of("region_load"),
              of("region_nothing"),      of("region_corrected"), of("region_as_compiled")};
  f.judged = judge(f.cycles);
  // Subtracted, since the clock reads and the combining of results are no part of the loads.
  const double around = of("loads_1") - f.cycles.load;
  std::vector<loads_point> line;
  for (const unsigned count : {1u, 2u, 4u, 8u, 16u})
    line.push_back({static_cast<double>(count), of(fmt::format("loads_{}", count).c_str()) - around});
  f.loads = overlap_of_loads(line);
  f.pair_overlap =
      overlap_of_pair(f.cycles.load, of("shuffle_alone") - around, of("load_beside_shuffle") - around);
  return f;
}

std::vector<named_value> region_method::row_of(const seen& run) const {
  const auto f = figures_of(run);
  return {{"corrected", f.cycles.corrected},     {"sum_of_parts", f.judged.sum_of_parts},
          {"as_compiled", f.cycles.as_compiled}, {"store_and_load", f.cycles.store_and_load},
          {"barrier", f.cycles.barrier},         {"load", f.cycles.load},
          {"reads", f.cycles.reads()},           {"load_latency", f.loads.latency},
          {"load_interval", f.loads.interval},   {"overlap", f.pair_overlap}};
}

std::vector<metric_name> region_method::columns() const {
  std::vector<metric_name> all;
  for (const char* name : {"corrected", "sum_of_parts", "as_compiled", "store_and_load", "barrier", "load",
                           "reads", "load_latency", "load_interval"})
    all.push_back({name, "cycles"});
  all.push_back({"overlap", "", better::more});
  return all;
}

void region_checker::take(const step&, std::span<const seen> came) {
  for (const auto& run : came)
    if (const auto* found = std::any_cast<region_recordings>(&run.own)) last_ = *found;
}

void region_checker::add_to(result& r) const {
  for (const auto& [name, what] : {std::pair{std::string("recording"), &last_.corrected},
                                   {std::string("recording-as-compiled"), &last_.as_compiled}}) {
    if (what->events.empty()) continue;
    r.attachments.push_back({name + ".json", "application/json", text_of(*what)});
    r.attachments.push_back({name + ".txt", "text/plain", event_table(*what)});
    r.attachments.push_back({name + ".trace.json", "application/json",
                             to_chrome_trace(bars_of(*what, {name, "Paper 002's region"}))});
  }
}

}  // namespace mgsync::timelines
