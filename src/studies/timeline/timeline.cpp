// Study timeline: what happens when (paper 002). A barrier's rounds, recorded by every worker: who came when,
// who waited for whom, who left when; and what recording costs. And the paper's own region of instructions,
// as compiled and corrected.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/words.hpp"
#include "src/base/cycle_counter.hpp"
#include "src/base/errors.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/study.hpp"
#include "src/studies/timeline/instruction_list.hpp"
#include "src/studies/timeline/instruction_runs.hpp"
#include "src/studies/timeline/order_prover.hpp"
#include "src/studies/timeline/recorded_barrier.hpp"
#include "src/studies/timeline/region_code.hpp"
#include "src/studies/timeline/region_runs.hpp"
#include "src/studies/timeline/timeline_evaluation.hpp"
#if MGSYNC_WITH_CUDA
#include "src/studies/timeline/gpu_instructions.hpp"
#include "src/studies/timeline/gpu_region.hpp"
#endif

namespace mgsync {
namespace timelines { namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ",")); }
std::vector<backend_choice> chosen(const study_request& asked) {
  return parse_backends(joined(asked.list("backend")), backends());
}
std::vector<shape> shapes(const study_request& asked) { return parse_shapes(joined(asked.list("shape"))); }

constexpr std::array<axis_declaration, 7> axes{{
    {"what", "rounds,region", "rounds, region, instructions, pairs",
     "a barrier's rounds; paper 002's region (store, barrier, load) on one GPU; single instructions there; "
     "or pairs of them side by side"},
    {"backend", "multigrid:auto", "backends as `mgsync list` names them: multigrid, multigrid:inbox, openmp",
     "whose rounds are recorded", word_count::list, [](const study_request& asked) { chosen(asked); }},
    {"members", "", "1 to 1024",
     "how many members: host threads on cores of their own, or GPUs; without a number two, or the only GPU"},
    {"gpus", "", "GPUs: 1 to 1024", "the same of GPUs alone"},
    {"shape", "1x32", "blocks per SM x threads per block, as 1x32 or b1x32",
     "of a GPU member; of a host member the first number is its threads", word_count::list,
     [](const study_request& asked) { shapes(asked); }},
    {"late", "0,5", "0 to 1000", "how much later than all others the last member comes", word_count::list,
     nullptr, "us"},
    {"rounds", "4", "1 to 64", "how many rounds of each run are kept and drawn", word_count::one},
}};

std::uint32_t number(const std::string& word) { return static_cast<std::uint32_t>(std::stoul(word)); }

std::vector<int> member_counts(const study_request& asked) {
  const bool gpus = !asked.list("gpus").front().empty(), members = !asked.list("members").front().empty();
  if (gpus && members)
    throw usage_error("--members and --gpus are two names for one number; accepted: one of them");
  if (!gpus && !members) {
    const auto there = asked.device == topology::device::gpu ? asked.machine().gpus.size() : 2;
    return {static_cast<int>(std::min<std::size_t>(there, 2))};
  }
  std::vector<int> all;
  for (const auto& word : asked.list(gpus ? "gpus" : "members"))
    all.push_back(static_cast<int>(number(word)));
  return all;
}

// Why the clocks of the workers would not be their own.
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

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked beforehand: every recorded round is"},
    {"no-check", "no rounds are checked beforehand: every recorded round is"},
    {"oversubscribe", "more threads than processors have no clocks of their own"},
};

rounds_difference_settings timing(const study_request& asked) {
  rounds_difference_settings s;
  s.stopping = asked.stops({.max_time = std::chrono::milliseconds(1500)});
  s.samples_per_batch = 5;
  return s;
}

measurement planned(const study_request& asked, const backend_choice& choice, const shape& of,
                    const topology::group& group, std::uint32_t late_us, bool recorder) {
  const bool host = asked.device == topology::device::host;
  recorded_barrier_settings given{
      choice.backend, choice.variant, group, {}, recorder, number(asked.list("rounds").front()), late_us};
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
  m.point.set(mgsync::axes::late, static_cast<double>(late_us), "us");
  m.point.set("recorder", std::string(recorder ? "on" : "off"));
  m.waived = why_no_clocks(group, asked.machine());
  if (m.waived.empty())
    m.waived = can_run(*choice.backend, *choice.variant, asked.machine(), group, given.configuration).reason;
  m.cell = fmt::format("{} {} {} {} {}", to_string(choice), m.point.members, to_string(of), late_us,
                       to_string(asked.device));
  m.create = [given] { return make_recorded_barrier(given); };
  m.method = [settings = timing(asked)] { return std::make_unique<rounds_difference>(settings); };
  if (recorder) m.prover = [] { return std::make_unique<order_prover>(); };
  return m;
}

// What stands between two reads of an SM's clock: on one GPU.
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
      m.prover = [] { return std::make_unique<code_prover>(); };
    }
  return all;
}

measurement planned_pairs(const study_request& asked) {
  auto m = of_one_sm(asked, "pairs");
#if MGSYNC_WITH_CUDA
  m.create = [gpu = asked.first_ordinal()] { return make_gpu_pairs(gpu); };
#endif
  m.method = [] { return std::make_unique<pairs_method>(); };
  m.prover = [] { return std::make_unique<code_prover>(); };
  return m;
}

measurement planned_region(const study_request& asked) {
  auto m = of_one_sm(asked, "region");
  m.point.set(mgsync::axes::threads_per_block, static_cast<double>(region_threads));
#if MGSYNC_WITH_CUDA
  m.create = [gpu = asked.first_ordinal()] { return make_gpu_region(gpu); };
#endif
  m.method = [] { return std::make_unique<region_method>(); };
  m.prover = [] { return std::make_unique<region_prover>(); };
  return m;
}

std::vector<measurement> points(const study_request& asked) {
  const auto wanted = [&](std::string_view what) {
    return std::ranges::find(asked.list("what"), what) != asked.list("what").end();
  };
  std::vector<measurement> all;
  if (wanted("instructions")) all = planned_instructions(asked);
  if (wanted("region")) all.push_back(planned_region(asked));
  if (wanted("pairs")) all.push_back(planned_pairs(asked));
  if (!wanted("rounds")) return all;
  for (const auto& choice : chosen(asked))
    for (const auto& of : shapes(asked))
      for (const int members : member_counts(asked))
        for (const auto& word : asked.list("late")) {
          const auto late_us = number(word);
          const auto made = topology::make_group(
              asked.ranks, {.kind = asked.device,
                            .members = members,
                            .threads_per_member = asked.device == topology::device::host
                                                      ? static_cast<int>(of.blocks_per_sm.value_or(1))
                                                      : 1,
                            .pin = asked.pins()});
          for (const bool recorder : {true, false})
            all.push_back(planned(asked, choice, of, made.chosen, late_us, recorder));
        }
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
