// Study timeline: what happens when (paper 002). A barrier's rounds, recorded by every worker: who came when,
// who waited for whom, who left when; and what recording costs. And the paper's own region of instructions,
// as compiled and corrected.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "barriers/words.hpp"
#include "src/base/cycle_counter.hpp"
#include "src/harness/code_checker.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/study.hpp"
#include "src/studies/timeline/instruction_list.hpp"
#include "src/studies/timeline/instruction_runs.hpp"
#include "src/studies/timeline/order_checker.hpp"
#include "src/studies/timeline/recorded_barrier.hpp"
#include "src/studies/timeline/region_runs.hpp"
#include "src/studies/timeline/timeline_evaluation.hpp"
#if MGSYNC_WITH_CUDA
#include "src/studies/timeline/gpu_probes.hpp"
#endif

namespace mgsync {
namespace timelines { namespace {

enum class subject_kind { rounds, region, instructions, pairs };
constexpr std::pair<subject_kind, std::string_view> kind_words[] = {
    {subject_kind::rounds, "rounds"},
    {subject_kind::region, "region"},
    {subject_kind::instructions, "instructions"},
    {subject_kind::pairs, "pairs"}};
constexpr axis_of<subject_kind> kinds({.name = "what",
                                       .help = "a barrier's rounds; paper 002's region (store, barrier, "
                                               "load) on one GPU; single instructions there; "
                                               "or pairs of them side by side"},
                                      words_in<subject_kind>{.defaults = "rounds,region",
                                                             .table = kind_words});

constexpr axis_of<backend_choice> choices(
    {.name = "backend", .help = "whose rounds are recorded"},
    read_by<backend_choice>{
        .defaults = "multigrid:auto",
        .accepted = "backends as `mgsync list` names them: multigrid, multigrid:inbox, openmp",
        .read = [](auto words, auto& into) { return read_backend_or_file(words, into); },
        .known = backend_words});

constexpr axis_of<int> members({.name = "members",
                                .help = "how many members: host threads on cores of their own, or GPUs; "
                                        "without a number two, or the only GPU"},
                               numbers_in{.least = 1, .most = 1024, .ranges = true});
constexpr axis_of<int> gpus({.name = "gpus", .help = "the same of GPUs alone", .another_name_of = &members},
                            numbers_in{.of = only_gpus, .least = 1, .most = 1024, .ranges = true});

constexpr axis_of<shape> shapes(
    {.name = "shape", .help = "of a GPU member; of a host member the first number is its threads"},
    read_by<shape>{.defaults = "1x32", .accepted = accepted_shapes, .read = read_shapes});

constexpr axis_of<std::uint32_t> lateness({.name = "late",
                                           .help = "how much later than all others the last member comes",
                                           .unit = "us"},
                                          numbers_in{.least = 0, .most = 1000, .defaults = "0,5"});

constexpr axis_of<std::uint32_t> kept_rounds({.name = "rounds",
                                              .help = "how many rounds of each run are kept and drawn",
                                              .counts = word_count::one},
                                             numbers_in{.least = 1, .most = 64, .defaults = "4"});

constexpr const axis_declaration* axes[] = {&kinds,  &choices,  &members,    &gpus,
                                            &shapes, &lateness, &kept_rounds};

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked beforehand: every recorded round is"},
    {"no-check", "no rounds are checked beforehand: every recorded round is"},
    {"oversubscribe", "more threads than processors have no clocks of their own"},
};

std::vector<int> member_counts(const study_request& asked) {
  if (const auto& typed = asked.values(members); !typed.empty()) return typed;
  const auto there = asked.device == topology::device::gpu ? asked.machine().gpus.size() : 2;
  return {static_cast<int>(std::min<std::size_t>(there, 2))};
}

// Why the workers would have no clocks of their own; empty where they have.
std::string why_no_clocks(const topology::group& group, const topology::machine& machine) {
  if (group.device == topology::device::gpu) return {};
  if (!has_cycle_counter) return "this processor has no cycle counter that programs can read";
  if (!machine.is_this_machine) return {};
  if (group.oversubscribed)
    return "more threads than processors: their cycle counters would not be their own";
  for (const auto& m : group.members)
    if (m.cpus.empty()) return "the members are not pinned, and their cycle counters not their own";
  return {};
}

rounds_difference_settings timing(const study_request& asked) {
  rounds_difference_settings s;
  s.stopping = asked.stops({.max_time = std::chrono::milliseconds(1500)});
  s.samples_per_batch = 5;
  return s;
}

measurement planned(const study_request& asked, const backend_choice& choice, const shape& of,
                    const topology::group& group, std::uint32_t late_us, bool recorder) {
  const bool host = asked.device == topology::device::host;
  recorded_barrier_settings given{choice.backend, choice.variant,         group,  {},
                                  recorder,       asked.one(kept_rounds), late_us};
  given.configuration.blocks_per_sm = of.blocks_per_sm;
  given.configuration.blocks = of.blocks;
  if (!host) given.configuration.threads_per_block = of.threads_per_block;
  auto m = measurement_of(asked, "timeline", choice.backend->name, choice.variant->name);
  m.point.members = static_cast<int>(group.members.size());
  m.point.group.clear();
  for (const auto& one : group.members) m.point.group.push_back(one.id);
  if (of.blocks) m.point.set(mgsync::axes::blocks, static_cast<double>(*of.blocks));
  else m.point.set(mgsync::axes::blocks_per_sm, static_cast<double>(of.blocks_per_sm.value_or(1)));
  if (!host) m.point.set(mgsync::axes::threads_per_block, static_cast<double>(of.threads_per_block));
  set(m.point, lateness, late_us);
  m.point.set("recorder", std::string(recorder ? "on" : "off"));
  m.waived = why_no_clocks(group, asked.machine());
  if (m.waived.empty())
    m.waived = can_run(*choice.backend, *choice.variant, asked.machine(), group, given.configuration).reason;
  m.cell = fmt::format("{} {} {} {} {}", to_string(choice), m.point.members, to_string(of), late_us,
                       to_string(asked.device));
  m.create = [given] { return make_recorded_barrier(given); };
  m.method = [settings = timing(asked)] { return std::make_unique<rounds_difference>(settings); };
  if (recorder) m.checker = [] { return std::make_unique<order_checker>(); };
  return m;
}

// The measurement of a subject that stands between two clock reads of an SM, on one GPU.
measurement of_one_sm(const study_request& asked, std::string_view subject) {
  auto m = measurement_of(asked, "timeline", subject);
  if (asked.device == topology::device::host)
    m.waived = "instructions of a GPU between reads of its SM's clock: there is no GPU here";
  else if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
  return m;
}

std::vector<measurement> planned_instructions(const study_request& asked) {
  std::vector<measurement> all;
  for (const auto& i : instructions())
    for (const unsigned varied : {1U, 2U, 4U, 8U, 16U, 32U}) {
      if (i.varied.empty() && varied != 1) continue;
      auto& m = all.emplace_back(of_one_sm(asked, i.name));
      if (!i.varied.empty()) m.point.set(i.varied, static_cast<double>(varied));
#if MGSYNC_WITH_CUDA
      m.create = [&i, varied, gpu = asked.first_ordinal()] { return make_gpu_instruction(gpu, i, varied); };
#endif
      m.method = [&i] { return std::make_unique<instruction_method>(i); };
      m.checker = [] { return std::make_unique<code_checker>(); };
    }
  return all;
}

measurement planned_pairs(const study_request& asked) {
  auto m = of_one_sm(asked, "pairs");
#if MGSYNC_WITH_CUDA
  m.create = [gpu = asked.first_ordinal()] { return make_gpu_pairs(gpu); };
#endif
  m.method = [] { return std::make_unique<pairs_method>(); };
  m.checker = [] { return std::make_unique<code_checker>(); };
  return m;
}

measurement planned_region(const study_request& asked) {
  auto m = of_one_sm(asked, "region");
  m.point.set(mgsync::axes::threads_per_block, static_cast<double>(region_threads));
#if MGSYNC_WITH_CUDA
  m.create = [gpu = asked.first_ordinal()] { return make_gpu_region(gpu); };
#endif
  m.method = [] { return std::make_unique<region_method>(); };
  m.checker = [] { return std::make_unique<region_checker>(); };
  return m;
}

std::vector<measurement> planned_rounds(const study_request& asked) {
  std::vector<measurement> all;
  for (const auto& choice : asked.values(choices))
    for (const auto& of : asked.values(shapes))
      for (const int count : member_counts(asked))
        for (const auto late_us : asked.values(lateness)) {
          const auto made = topology::make_group(
              asked.ranks, {.kind = asked.device,
                            .members = count,
                            .threads_per_member = asked.device == topology::device::host
                                                      ? static_cast<int>(of.blocks_per_sm.value_or(1))
                                                      : 1,
                            .pin = asked.pins()});
          for (const bool recorder : {true, false})
            all.push_back(planned(asked, choice, of, made.chosen, late_us, recorder));
        }
  return all;
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  const auto add = [&all](std::vector<measurement> more) {
    std::ranges::move(more, std::back_inserter(all));
  };
  for (const auto what : asked.values(kinds))
    if (what == subject_kind::rounds) add(planned_rounds(asked));
    else if (what == subject_kind::instructions) add(planned_instructions(asked));
    else all.push_back(what == subject_kind::region ? planned_region(asked) : planned_pairs(asked));
  return all;
}

}}  // namespace timelines

extern const study timeline_study;
const study timeline_study{
    .name = "timeline",
    .summary =
        "what happens when: a barrier's rounds as each member saw them, and paper 002's region in cycles",
    .axes = timelines::axes,
    .points = timelines::points,
    .evaluate = timelines::evaluate,
    .seconds_per_point = 4.0,
    .refuses = timelines::refused};

}  // namespace mgsync
