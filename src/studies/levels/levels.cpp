// Study levels: measured by a program of its own (levels_probe), whose raw rows are what it means everywhere else.
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "src/harness/study.hpp"
#include "src/studies/levels/level_evaluation.hpp"
#include "src/studies/levels/probe_family.hpp"
#include "src/studies/levels/raw_samples.hpp"

namespace mgsync {
namespace levels {
namespace {

bool knows(std::string_view text) {
  const auto header = csv_header();
  return text.starts_with(header) || text.find("\n" + header) != std::string_view::npos;
}

// Of "# clock 1979.74 MHz, ..." the number; 0 where there is no such line.
double clock_of(const std::string& text) {
  constexpr std::string_view begin = "# clock ";
  return text.starts_with(begin) ? std::strtod(text.c_str() + begin.size(), nullptr) : 0;
}

// A barrier of a warp, a block or a cluster, for the ladder of all levels.
result result_of(const level_value& v, const probe_family& f, double mhz) {
  result r;
  r.point.study = "levels";
  r.point.subject = v.family;
  r.point.device = topology::device::gpu;
  r.point.members = 1;
  r.point.group = {0};
  r.point.set("scope", std::string(f.source));
  r.point.set("threads", static_cast<double>(v.threads));
  r.status = result_status::measured;
  metric m{metric_name{"latency", "cycles"}};
  m.median = m.min = v.value;
  m.ci95_low = v.low;
  m.ci95_high = v.high;
  m.samples = v.samples;
  m.raw = {v.value};
  r.metrics.push_back(m);
  r.method = "device clock, slope over chain lengths; the interval is the range over SMs or launches";
  r.environment["mhz"] = fmt::format("{}", mhz);
  return r;
}

raw_evaluation evaluate_raw(std::span<const raw_file> files) {
  std::vector<raw_samples> raw;
  this_gpu gpu;
  for (const auto& f : files) {
    auto rows = from_csv(f.text);
    raw.insert(raw.end(), rows.begin(), rows.end());
    if (gpu.mhz == 0) gpu.mhz = clock_of(f.text);
  }
  // The chains of adds are another study's.
  std::erase_if(raw, [](const raw_samples& r) { return r.family.starts_with("fp") || r.family.starts_with("int_add"); });
  const auto values = values_of(raw);
  for (const auto& f : families())
    if (const double ns = host_ns_per_link(raw, f.name); ns > 0 && gpu.mhz > 0) gpu.host_cycles[f.name] = ns * gpu.mhz / 1000;
  raw_evaluation all{evaluate(values, gpu), {}};
  const std::set<std::string> scopes{"warp", "block", "cluster"};
  for (const auto& v : values) {
    const auto& f = family(v.family);
    const bool on_the_ladder = (v.threads == f.threads || v.threads == 1024) && (f.source != "cluster" || f.cluster > 1);
    if (v.quantity == quantity::latency && f.kind == kind::barrier && scopes.contains(std::string(f.source)) && on_the_ladder && gpu.mhz > 0 && v.value > 0)
      all.results.push_back(result_of(v, f, gpu.mhz));
  }
  return all;
}

}  // namespace
}  // namespace levels

extern const study levels_study;
const study levels_study{"levels", "barriers and memory inside one GPU, by the SM's own clock (000, table II; 001, tables 4, 5 and 7)",
                         {}, nullptr, nullptr, 1.0, nullptr, levels::knows, levels::evaluate_raw};

}  // namespace mgsync
