// Study levels: what a barrier costs at each level inside one GPU, and operations of a warp and memory beside it (000,
// section V, table II, figure 4; 001, tables 2, 4, 5 and 7).
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ranges>
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
#include "src/studies/levels/raw_samples.hpp"

namespace mgsync {
namespace levels {
namespace {

constexpr std::array<axis_declaration, 4> axes_of_levels{{
    {"level", "warp,block,cluster,memory", "warp, block, cluster, memory", "barriers and operations of which level"},
    {"quantity", "latency,throughput,host", "latency, throughput, host", "latency and throughput by the SM's cycle counter; latency by the host's clock, where a barrier lasts"},
    {"probe", "all", "all, or names of probes as the table of all levels has them", "which probes of these levels"},
    {"run", "1,2", "1 to 9", "measured once for each: two runs show what repeats"},
}};

template <std::size_t Count>
std::string_view known_word(std::string_view option, const std::string& word, const std::string_view (&known)[Count]) {
  const auto found = std::ranges::find(known, word);
  if (found == std::end(known)) throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, word, fmt::join(known, ", ")));
  return *found;
}

unsigned run_of_word(const std::string& word) {
  unsigned run = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), run);
  if (error != std::errc() || end != word.data() + word.size() || run < 1 || run > 9)
    throw usage_error(fmt::format("--run is '{}'; accepted: 1 to 9", word));
  return run;
}

std::set<std::string> wanted_probes(const study_request& asked) {
  std::set<std::string> names;
  for (const auto& word : asked.list("probe")) {
    if (word == "all") return {};
    if (std::ranges::find(families(), word, &probe_family::name) == families().end())
      throw usage_error(fmt::format("--probe is '{}'; accepted: all, or of {}", word, fmt::join(std::views::transform(families(), &probe_family::name), ", ")));
    names.insert(word);
  }
  return names;
}

// By the host's clock a run must last: so many links more.
rounds_choice host_lengths(const probe_family& f) {
  return f.loop_body != 0 ? rounds_choice{64 * f.loop_body, 1024 * f.loop_body} : rounds_choice{128 * f.lengths.back(), 1024 * f.lengths.back()};
}

std::function<std::unique_ptr<method>()> method_for(const level_probe& one) {
  if (one.quantity == quantity::throughput) return [] { return std::make_unique<rate>(rate_settings{}); };
  if (one.quantity == quantity::host)
    return [lengths = host_lengths(*one.family)] {
      rounds_difference_settings settings;
      settings.lengths_given = lengths;
      settings.stopping.max_time = std::chrono::milliseconds(250);
      settings.samples_per_batch = 3;
      return std::make_unique<rounds_difference>(settings);
    };
  return [one] {
    slope_settings settings;
    settings.lengths.assign(one.family->lengths.begin(), one.family->lengths.end());
    settings.medians = one.on_every_sm();
    if (one.on_every_sm()) settings.place = "sm";
    return std::make_unique<slope>(settings);
  };
}

measurement planned(const study_request& asked, const level_probe& one, unsigned run, const subject_maker& make) {
  measurement m;
  m.point = point_of(one, run);
  m.cell = fmt::format("{} {} {}", one.family->source, all_quantities[static_cast<std::size_t>(one.quantity)], run);
  m.method = method_for(one);
  m.prover = [one] { return std::make_unique<probe_prover>(one); };
  const auto& gpus = asked.machine().gpus;
  if (!gpus.empty()) m.point.group = {gpus.front().id};
  m.create = [make, one, name = gpus.empty() ? std::string() : gpus.front().name] {
    auto made = make(one);
    made.found["gpu"] = name;
    return made;
  };
  return m;
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<std::string_view> level_words, quantity_words;
  for (const auto& word : asked.list("level")) level_words.push_back(known_word("level", word, all_levels));
  for (const auto& word : asked.list("quantity")) quantity_words.push_back(known_word("quantity", word, all_quantities));
  std::vector<unsigned> runs;
  for (const auto& word : asked.list("run")) runs.push_back(run_of_word(word));
  const auto wanted = wanted_probes(asked);
  std::vector<measurement> all;
  if (asked.device != topology::device::gpu || !asked.with_cuda) {
    // A line for each level, in place of hundreds that say the same.
    for (const auto level : level_words) {
      measurement m;
      m.point.study = "levels";
      m.point.subject = level;
      m.point.device = asked.device;
      m.point.members = 1;
      m.point.group = {0};
      m.waived = asked.device != topology::device::gpu ? "for GPU members: its probes are kernels" : "this mgsync was built without CUDA";
      m.method = [] { return std::make_unique<slope>(slope_settings{}); };
      all.push_back(std::move(m));
    }
    return all;
  }
  subject_maker make;
  if constexpr (MGSYNC_WITH_CUDA) make = probes_on(asked.machine().gpus.front().cuda_ordinal.value_or(0));
  for (const unsigned run : runs)
    for (const auto what : quantity_words)
      for (const auto level : level_words) {
        const auto index = std::ranges::find(all_quantities, what) - std::begin(all_quantities);
        for (const auto& one : probes_of(level, static_cast<quantity>(index)))
          if (wanted.empty() || wanted.contains(one.family->name)) all.push_back(planned(asked, one, run, make));
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
  if (!again.apart.rows.empty()) e.tables.push_back(std::move(again.apart));
  return e;
}

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
  r.point.set("quantity", std::string("latency"));
  r.point.set(axes::blocks, static_cast<double>(f.cluster));
  r.point.set(axes::threads_per_block, static_cast<double>(v.threads));
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
  r.environment["link"] = std::string(link_of(f));
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
  auto values = values_of(raw);
  for (const auto& f : families())
    if (const double ns = host_ns_per_link(raw, f.name); ns > 0 && gpu.mhz > 0) {
      level_value v;
      v.family = f.name;
      v.quantity = quantity::host;
      v.cluster = f.cluster;
      v.value = v.low = v.high = ns * gpu.mhz / 1000;
      values.push_back(v);
    }
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
                         levels::axes_of_levels, levels::points, levels::evaluate_results, 0.04, nullptr, levels::knows, levels::evaluate_raw};

}  // namespace mgsync
