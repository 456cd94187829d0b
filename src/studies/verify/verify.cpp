// Study verify: is the host-clock method right? A chain of dependent operations must have one latency by
// every clock (paper 000, section IX-D; paper 001, section 3 and table 1; docs/method.md).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/harness/code_checker.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/harness/study.hpp"
#include "src/probes/catalogue.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/paper_numbers.hpp"
#include "src/results/values/statistics.hpp"
#include "src/studies/verify/gpu_chain.hpp"
#include "src/studies/verify/host_chain.hpp"

namespace mgsync {
namespace verify { namespace {

constexpr std::string_view gpu_operations[] = {"fp32_add", "fp64_add", "int_add"};
constexpr std::pair<operation, std::string_view> host_operations[] = {{operation::add, "add"},
                                                                      {operation::multiply, "multiply"}};
constexpr axis_of<std::variant<std::string_view, operation>> operations(
    {.name = "operation", .help = "what a link of the chain is"},
    words_in<std::string_view>{.of = only_gpus, .table = gpu_operations},
    words_in<operation>{.of = only_hosts, .table = host_operations});

constexpr std::pair<chain_form, std::string_view> form_words[] = {{chain_form::unrolled, "unrolled"},
                                                                  {chain_form::looped, "looped"},
                                                                  {chain_form::all_in_code, "all-in-code"}};
constexpr axis_of<chain_form> forms({.name = "form",
                                     .help = "links one after the other in the code, a loop over 256 of "
                                             "them, or float adds as many as the papers', "
                                             "which leave the instruction caches"},
                                    words_in<chain_form>{.of = only_gpus, .table = form_words});

enum class timed_by { device, host };
constexpr std::pair<timed_by, std::string_view> clock_words[] = {{timed_by::device, "device"},
                                                                 {timed_by::host, "host"}};
constexpr axis_of<timed_by> clocks(
    {.name = "clock",
     .help = "the SM's cycle counter, or the host's clock over two chains of different length"},
    words_in<timed_by>{.of = only_gpus, .table = std::span(clock_words).first(1)},
    words_in<timed_by>{.table = std::span(clock_words).last(1)});

constexpr axis_of<std::uint64_t> differences(
    {.name = "difference", .help = "links between the two chains, by the host's clock", .unit = "links"},
    numbers_in{.of = only_gpus,
               .least = 256,
               .most = 16777216,
               .step = 256,
               .defaults = "2048,5120,7680,10240,20480,25600,40960,51200"});

constexpr const axis_declaration* axes[] = {&operations, &forms, &clocks, &differences};

constexpr refused_option refused[] = {
    {"check-rounds",
     "no rounds are checked: a chain's latency is known, and a GPU's machine code is read when it is made"},
    {"no-check",
     "no rounds are checked: a chain's latency is known, and a GPU's machine code is read when it is made"},
    {"oversubscribe", "each of its points has one member"},
};

// Chains have fixed settings: everything but the noise of the machine is known beforehand.
rounds_difference_settings host_clock(const study_request& asked, std::uint64_t difference) {
  rounds_difference_settings settings;
  settings.lengths_given = rounds_choice{512, static_cast<std::uint32_t>(512 + difference)};
  settings.stopping = asked.stops({.precision = 0.002, .max_time = std::chrono::milliseconds(400)});
  settings.samples_per_batch = 9;
  return settings;
}

measurement planned(const study_request& asked, std::string_view operation, timed_by clock) {
  auto m = measurement_of(asked, "verify", operation);
  set(m.point, clocks, clock);
  m.cell = "chains";
  return m;
}

void add_host(const study_request& asked, std::vector<measurement>& all) {
  for (const auto what : asked.values<operation>(operations)) {
    auto m = planned(asked, operations.word_for(what), timed_by::host);
    const auto& allowed = asked.machine().allowed_cpus;
    m.create = [what, cpu = allowed.empty() || !asked.pins() ? -1 : allowed.front()] {
      return subject_creation{std::make_unique<host_chain>(what, cpu), {}, {}};
    };
    m.method = [stopping = asked.stops({.max_time = std::chrono::milliseconds(800)})] {
      rounds_difference_settings settings;
      settings.lengths_given = rounds_choice{64'000, 640'000};
      settings.stopping = stopping;
      settings.samples_per_batch = 9;
      return std::make_unique<rounds_difference>(settings);
    };
    all.push_back(std::move(m));
  }
}

// The latency by the device's clock from the papers' base length to each longer chain (001, table 1).
template <class Base>
void add_all_in_code(Base base, std::vector<measurement>& all) {
  const auto& lengths = probes::probe_called("unrolled", "fp32_add_unrolled").lengths;
  const std::uint64_t first = lengths.front();
  for (const std::uint64_t length : lengths) {
    if (length == first) continue;
    auto m = base();
    set(m.point, differences, length - first);
    m.method = [first, length] {
      slope_settings settings;
      settings.lengths = {first, length};
      return std::make_unique<slope>(settings);
    };
    all.push_back(std::move(m));
  }
}

void add_gpu(const study_request& asked, std::vector<measurement>& all) {
  for (const auto name : asked.values<std::string_view>(operations))
    for (const auto form : asked.values(forms))
      for (const auto clock : asked.values(clocks)) {
        const bool looped = form == chain_form::looped;
        const auto base = [&](unsigned passes) {
          auto m = planned(asked, name, clock);
          set(m.point, forms, form);
          if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
          if constexpr (MGSYNC_WITH_CUDA)
            m.create = [name = std::string(name), form, ordinal = asked.first_ordinal(), passes] {
              return make_gpu_chain(name, form, ordinal, passes);
            };
          m.checker = [] { return std::make_unique<code_checker>(); };
          return m;
        };
        if (form == chain_form::all_in_code) {
          if (clock == timed_by::device && name == "fp32_add") add_all_in_code([&] { return base(9); }, all);
          continue;
        }
        if (clock == timed_by::device) {
          auto m = base(33);
          m.method = [looped] {
            slope_settings settings;
            settings.lengths = looped ? std::vector<std::uint64_t>{512, 1024, 2048, 5120, 10240, 25600, 51200}
                                      : std::vector<std::uint64_t>{16, 32, 64, 128, 256, 512};
            return std::make_unique<slope>(settings);
          };
          all.push_back(std::move(m));
          continue;
        }
        if (!looped) continue;  // a chain that the host's clock can time is long: only loops are
        for (const auto difference : asked.values(differences)) {
          auto m = base(65);
          set(m.point, differences, difference);
          m.method = [settings = host_clock(asked, difference)] {
            return std::make_unique<rounds_difference>(settings);
          };
          all.push_back(std::move(m));
        }
      }
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  asked.device == topology::device::gpu ? add_gpu(asked, all) : add_host(asked, all);
  return all;
}

const result* find(std::span<const result> all, std::string_view subject, std::string_view clock,
                   std::string_view form = "") {
  return first(all, is_measured_of("verify"), is_subject(subject), has("clock", clock),
               [form](const result& r) { return form.empty() || r.point.word("form") == form; });
}

void evaluate_host(std::span<const result> all, evaluation& e) {
  const auto *add = find(all, "add", "host"), *multiply = find(all, "multiply", "host");
  if (add == nullptr || multiply == nullptr || add->point.device != topology::device::host) return;
  // Batch by batch, since the batches of both were interleaved: a change of the clock frequency affects both.
  std::vector<double> ratios;
  const auto &slow = multiply->metrics.front().raw, &fast = add->metrics.front().raw;
  for (std::size_t i = 0; i < std::min(slow.size(), fast.size()); ++i)
    if (fast[i] > 0) ratios.push_back(slow[i] / fast[i]);
  if (!ratios.empty()) {
    const auto within = median_interval(ratios);
    auto doubts = add->doubts;
    add_doubts(doubts, multiply->doubts);
    e.sentences.push_back(fmt::format(
        "A dependent multiplication of 64 bits takes {:.3f} times as long as a dependent addition "
        "({:.3f} to {:.3f} by {} of batches); on x86 it takes 3 cycles against 1.{}",
        median(ratios), within.low, within.high, counted(ratios.size(), "pair"),
        doubts.empty() ? "" : fmt::format(" That means little: {}.", words_of(doubts))));
  }
  table t{{"host-chains", "Chains on a host thread, by the host's clock"},
          {"operation", "ns per link | .4f", "ci95 | .4f"}};
  for (const auto* r : {add, multiply})
    t.add({r->point.subject, median_of(*r) * 1e3, ci95_of(first_metric(*r), 1e3)}, short_key(r->point));
  e.add(std::move(t));
}

// Table 1 of 001: cycles of a float add on V100, by repeat difference.
table_entry of_paper(double difference, const char* clock) {
  const auto* known = published("001", "table 1", fmt::format("{}", difference), "V100", clock);
  return known == nullptr ? table_entry(std::nullopt) : known->value;
}

// The table of latencies by the cycle counter.
table latencies(const frame<result>& by_device) {
  table t{{"gpu-chains", "Latency of a dependent operation, by the SM's cycle counter"},
          {"operation", "form", "cycles | .3f", "cycles over links, least | .3f", "residual | .2f",
           "MHz | .1f", "machine code"}};
  for (const auto* r : by_device) {
    const double mhz = r->number("clock").value_or(0);
    t.add({r->point.subject, r->point.word("form"), median_of(*r), r->find("per_link"), r->find("residual"),
           mhz > 0 ? table_entry(mhz) : missing{""}, r->found("code")},
          short_key(r->point));
  }
  return t;
}

table chains_in_code(const frame<result>& all_in_code) {
  table t{{"instruction-cache", "Chains of float adds that are all in the code (001, table 1)",
           "By the SM's cycle counter, from 512 links on: beyond the instruction caches each instruction "
           "is fetched anew."},
          {"difference | >", "KiB of code | .0f", "cycles | .3f", "V100 device | .3f"}};
  constexpr double bytes_per_instruction = 16, shortest = 512;
  for (const auto* r : all_in_code) {
    const double difference = number("difference")(*r);
    t.add({difference, (shortest + difference) * bytes_per_instruction / 1024, median_of(*r),
           of_paper(difference, "device")});
  }
  return t;
}

void evaluate_gpu(std::span<const result> all, evaluation& e) {
  const auto chains = where(all, is_measured_of("verify"),
                            [](const result& r) { return r.point.device == topology::device::gpu; });
  const auto in_code = has("form", "all-in-code"), by_device = has("clock", "device");
  e.add(latencies(where(chains, std::not_fn(in_code), by_device)));
  e.add(chains_in_code(where(chains, in_code)));
  table both{{"both-clocks", "The same chain by both clocks (001, table 1)",
              "Looped chains. On V100 the paper's unrolled chain left the instruction cache of 128 KB "
              "between 7680 and 10240 adds."},
             {"operation", "difference | >", "host, cycles | .3f", "ci95 | .3f", "device, cycles | .3f",
              "host over device | .4f", "V100 host | .3f", "V100 device | .3f"}};
  double worst = 0;
  for (const auto* r : where(chains, std::not_fn(in_code), std::not_fn(by_device))) {
    const double mhz = r->number("clock").value_or(0), difference = number("difference")(*r);
    const auto* device = find(all, r->point.subject, "device", "looped");
    std::optional<double> device_cycles;
    if (device != nullptr) device_cycles = median_of(*device);
    const auto times = ratio(median_of(*r) * mhz, device_cycles);
    if (times && difference >= 5120) worst = std::max(worst, std::abs(*times - 1));
    const bool is_papers = r->point.subject == "fp32_add";
    const double papers =
        published("001", "table 1", fmt::format("{}", difference), "V100", "host") != nullptr
            ? difference
            : difference + 8;
    both.add({r->point.subject, difference, median_of(*r) * mhz, ci95_of(first_metric(*r), mhz),
              device_cycles, times, is_papers ? of_paper(papers, "host") : std::nullopt,
              is_papers ? of_paper(papers, "device") : std::nullopt},
             short_key(r->point));
  }
  if (both.rows.empty()) return;
  e.sentences.push_back(fmt::format(
      "From 5120 links on, the host's clock and the SM's cycle counter differ by at most {:.2f} %{}.",
      100 * worst, worst <= 0.01 ? ": the host-clock method is right" : ""));
  e.add(std::move(both));
}

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  evaluate_host(all, e);
  evaluate_gpu(all, e);
  return e;
}

}}  // namespace verify

extern const study verify_study;
const study verify_study{
    .name = "verify",
    .summary =
        "is the host-clock method right? Chains of known latency by the host's clock and by cycle counters",
    .axes = verify::axes,
    .points = verify::points,
    .evaluate = verify::evaluate,
    .refuses = verify::refused};

}  // namespace mgsync
