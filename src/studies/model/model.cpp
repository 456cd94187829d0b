// Study model: which of two configurations wins at which size (paper 000, sections VII-A to VII-C, tables III
// to V): sums in shared memory by one thread, a warp and a block, what joining costs, and where the curves
// cross.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/harness/axis_words.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/harness/study.hpp"
#include "src/studies/model/block_arguments.hpp"
#include "src/studies/model/block_runs.hpp"
#include "src/studies/model/model_evaluation.hpp"

namespace mgsync {
namespace model { namespace {

constexpr std::array<axis_declaration, 4> axes{{
    {"quantity", "all", "all, sum, loop, step, warp",
     "whole sums over sizes; their loops alone; steps that join; a warp's sum of 32 numbers (table V)"},
    {"workers", "1,32,64,128,256,512,1024", "1, 32, 64, 128, 256, 512, 1024",
     "threads of the loops; of whole sums: 1, 32 and 1024 of these"},
    {"form", "as-compiled,one-load", "as-compiled, one-load",
     "the loop as the compiler unrolls it, or a load at a time"},
    {"way", "all",
     "all, serial, nosync, volatile, tile, coalesced, tile-shuffle, coalesced-shuffle, "
     "coalesced-shuffle-remade, raw-shuffle, group-reduce, raw-shuffle-fp32, raw-shuffle-int32, "
     "redux, dsmem-tile, dsmem-shuffle",
     "of a warp's sum: of table V, and others"},
}};

static_assert(std::ranges::all_of(warp_ways, [](const warp_way& way) {
  return axes[3].accepted.find(way.name) != std::string_view::npos;
}));

constexpr const char* quantities[] = {"sum", "loop", "step", "warp"};

bool asks_for(const study_request& asked, std::string_view axis, std::string_view word) {
  const auto& words = asked.list(axis);
  return std::any_of(words.begin(), words.end(),
                     [word](const auto& any) { return any == "all" || any == word; });
}

std::vector<unsigned> workers_asked(const study_request& asked) {
  std::vector<unsigned> all;
  for (const auto& word : asked.list("workers")) all.push_back(static_cast<unsigned>(std::stoul(word)));
  return all;
}

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked: every sum is compared"},
    {"no-check", "no rounds are checked: every sum is compared"},
    {"no-pin", "its members are GPUs, and no thread is pinned"},
    {"oversubscribe", "its members are GPUs, and no host threads"},
};

measurement planned(const study_request& asked, std::string_view subject, std::string_view variant,
                    const block_run& run) {
  auto m = measurement_of(asked, "model", subject, variant);
  if (asked.device != topology::device::gpu || asked.first_gpu() == nullptr)
    m.waived = "these are kernels for a GPU; host threads: mgsync study reduction";
  else if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
  if (!m.waived.empty()) {
    m.point.group.clear();
    return m;
  }
  if constexpr (MGSYNC_WITH_CUDA)
    m.create = [run, ordinal = asked.first_ordinal()] { return make_block_run(run, ordinal); };
  m.prover = [] { return make_block_prover(); };
  m.method = [stopping = asked.stops({.max_time = std::chrono::milliseconds(200)})] {
    one_run_settings settings;
    settings.value = "typical_cycles";
    settings.measured = {"latency", "cycles"};
    settings.runs_per_batch = 1;
    settings.warm_ups = 0;
    settings.stopping = stopping;
    return std::make_unique<one_run>(settings);
  };
  return m;
}

std::function<std::unique_ptr<method>()> slope_over(std::vector<std::uint64_t> lengths) {
  return [lengths] {
    slope_settings settings;
    settings.lengths = lengths;
    return std::make_unique<slope>(settings);
  };
}

unsigned threads_for(unsigned workers) { return std::max(32u, workers); }

// From 8 bytes to 64 KiB, four sizes a doubling where there are so many.
std::vector<unsigned> counts_of_sums() {
  std::vector<unsigned> all;
  for (unsigned octave = 1; octave <= most_numbers; octave *= 2)
    for (unsigned quarter = 4; quarter < 8; ++quarter) {
      const unsigned count = octave * quarter / 4;
      if (octave * quarter % 4 == 0 && count <= most_numbers && (quarter % 2 == 0 || octave >= 512))
        all.push_back(count);
    }
  return all;
}

void add_sums(const study_request& asked, std::vector<measurement>& all) {
  for (const auto& form : asked.list("form"))
    for (const unsigned workers : workers_asked(asked)) {
      if (workers != 1 && workers != 32 && workers != most_workers) continue;
      for (const unsigned count : counts_of_sums()) {
        auto m = planned(asked, "sum", form,
                         {block_quantity::sum, form == "one-load" ? "sum_one_load" : "sum_as_compiled",
                          threads_for(workers), workers, count});
        m.point.set("workers", static_cast<double>(workers));
        m.point.set("bytes", 8.0 * count, "B");
        all.push_back(std::move(m));
      }
    }
}

void add_loops(const study_request& asked, std::vector<measurement>& all) {
  for (const auto& form : asked.list("form"))
    for (const unsigned workers : workers_asked(asked)) {
      auto m = planned(asked, "loop", form,
                       {block_quantity::loop, form == "one-load" ? "loop_one_load" : "loop_as_compiled",
                        threads_for(workers), workers, 0});
      m.point.set("workers", static_cast<double>(workers));
      std::vector<std::uint64_t> turns;
      const std::uint64_t most = std::min(64u, most_numbers / workers);
      for (const unsigned part : {8u, 4u, 2u, 1u}) turns.push_back(most / part);
      m.method = slope_over(turns);
      all.push_back(std::move(m));
    }
}

// The tree's steps, each by as many threads as take part in it.
void add_steps(const study_request& asked, std::vector<measurement>& all) {
  const auto add = [&](std::string_view what, const char* kernel, unsigned threads) {
    auto m = planned(asked, "step", what, {block_quantity::step, kernel, threads, threads, 0});
    m.point.set("workers", static_cast<double>(threads));
    m.method = slope_over({4, 8, 16});
    all.push_back(std::move(m));
  };
  add("shuffle-alone", "shuffles", 32);
  add("shuffle", "shuffle_steps", 32);
  add("barrier-alone", "barriers", most_workers);
  for (const unsigned workers : {32u, most_workers}) {
    auto m = planned(asked, "step", "join", {block_quantity::step, "joins", workers, workers, workers});
    m.point.set("workers", static_cast<double>(workers));
    m.method = slope_over({1, 2, 4});
    all.push_back(std::move(m));
  }
  for (unsigned active = most_workers / 2; active >= 32; active /= 2) {
    auto m = planned(asked, "step", "tree", {block_quantity::step, "tree_steps", most_workers, active, 0});
    m.point.set("workers", static_cast<double>(active));
    m.point.set("threads_per_block", static_cast<double>(most_workers));
    m.method = slope_over({4, 8, 16});
    all.push_back(std::move(m));
  }
}

void add_warp_sums(const study_request& asked, std::vector<measurement>& all) {
  for (const auto& way : warp_ways) {
    if (!asks_for(asked, "way", way.name)) continue;
    auto m = planned(asked, "warp", way.name,
                     {block_quantity::warp_sum, std::string(way.kernel), 32, 32, 32, way.blocks});
    m.point.set("type", std::string(way.type));
    all.push_back(std::move(m));
  }
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  if (asked.device != topology::device::gpu ||
      asked.machine().gpus.empty()) {  // one line for each, not for each of their points
    for (const auto* what : quantities)
      if (asks_for(asked, "quantity", what)) all.push_back(planned(asked, what, "", {}));
    return all;
  }
  if (asks_for(asked, "quantity", "sum")) add_sums(asked, all);
  if (asks_for(asked, "quantity", "loop")) add_loops(asked, all);
  if (asks_for(asked, "quantity", "step")) add_steps(asked, all);
  if (asks_for(asked, "quantity", "warp")) add_warp_sums(asked, all);
  return all;
}

}}  // namespace model

extern const study model_study;
const study model_study{
    .name = "model",
    .summary =
        "which of two configurations wins at which size: a thread, a warp, a block, and what joining costs",
    .axes = model::axes,
    .points = model::points,
    .evaluate = model::evaluate,
    .seconds_per_point = 0.05,
    .of_one_program = true,
    .refuses = model::refused};

}  // namespace mgsync
