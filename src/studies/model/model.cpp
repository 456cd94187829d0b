// Study model: which of two configurations wins at which size (paper 000, sections VII-A to VII-C, tables III
// to V)? Sums in shared memory by one thread, a warp and a block, what joining costs, and where the curves
// cross.
#include <algorithm>

#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/harness/study.hpp"
#include "src/studies/model/block_runs.hpp"
#include "src/studies/model/model_evaluation.hpp"

namespace mgsync {
namespace model { namespace {

enum class quantity { sum, loop, step, warp };
constexpr std::pair<quantity, std::string_view> quantity_words[] = {
    {quantity::sum, "sum"}, {quantity::loop, "loop"}, {quantity::step, "step"}, {quantity::warp, "warp"}};
constexpr axis_of<quantity> quantities(
    {.name = "quantity",
     .help =
         "whole sums over sizes; their loops alone; steps that join; a warp's sum of 32 numbers (table V)"},
    quantity_words);

enum class form { as_compiled, one_load };
constexpr std::uint64_t worker_counts[] = {1, 32, 64, 128, 256, 512, 1024};
constexpr axis_of<unsigned> workers_of_a_block(
    {.name = "workers", .help = "threads of the loops; of whole sums: 1, 32 and 1024 of these"},
    numbers_in{.defaults = "1,32,64,128,256,512,1024", .only = worker_counts});

constexpr std::pair<form, std::string_view> form_words[] = {{form::as_compiled, "as-compiled"},
                                                            {form::one_load, "one-load"}};
constexpr axis_of<form> forms({.name = "form",
                               .help = "the loop as the compiler unrolls it, or a load at a time"},
                              form_words);

constexpr axis_of<const warp_way*> ways({.name = "way", .help = "of a warp's sum: of table V, and others"},
                                        names_in<warp_ways>{});

constexpr const axis_declaration* axes[] = {&quantities, &workers_of_a_block, &forms, &ways};

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked: every sum is compared"},
    {"no-check", "no rounds are checked: every sum is compared"},
    {"no-pin", "its members are GPUs, and no thread is pinned"},
    {"oversubscribe", "its members are GPUs, and no host threads"},
};

using probes::most_numbers;
using probes::most_workers;

const probes::probe* probe_of(std::string_view name) { return &probes::probe_called("block_sums", name); }

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
  m.checker = [] { return make_block_checker(); };
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

// Sizes from 8 bytes to 64 KiB, four per doubling where there are that many.
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
  for (const auto built : asked.values(forms))
    for (const unsigned workers : asked.values(workers_of_a_block)) {
      if (workers != 1 && workers != 32 && workers != most_workers) continue;
      for (const unsigned count : counts_of_sums()) {
        auto m = planned(asked, "sum", forms.word_for(built),
                         {block_quantity::sum,
                          probe_of(built == form::one_load ? "sum_one_load" : "sum_as_compiled"),
                          threads_for(workers), workers, count});
        set(m.point, workers_of_a_block, workers);
        m.point.set("bytes", 8.0 * count, "B");
        all.push_back(std::move(m));
      }
    }
}

void add_loops(const study_request& asked, std::vector<measurement>& all) {
  for (const auto built : asked.values(forms))
    for (const unsigned workers : asked.values(workers_of_a_block)) {
      auto m = planned(asked, "loop", forms.word_for(built),
                       {block_quantity::loop,
                        probe_of(built == form::one_load ? "loop_one_load" : "loop_as_compiled"),
                        threads_for(workers), workers, 0});
      set(m.point, workers_of_a_block, workers);
      const auto most = std::min<std::uint64_t>(most_turns, probes::most_numbers_of_a_loop / workers);
      m.method = slope_over({most / 3, most * 2 / 3, most});
      all.push_back(std::move(m));
    }
}

// Adds the steps of the tree, each with the threads that take part in it.
void add_steps(const study_request& asked, std::vector<measurement>& all) {
  const auto add = [&](std::string_view what, const char* kernel, unsigned threads) {
    auto m = planned(asked, "step", what, {block_quantity::step, probe_of(kernel), threads, threads, 0});
    set(m.point, workers_of_a_block, threads);
    m.method = slope_over({16, 32, 64});
    all.push_back(std::move(m));
  };
  add("shuffle-alone", "shuffles", 32);
  add("shuffle", "shuffle_steps", 32);
  add("barrier-alone", "barriers", most_workers);
  for (const unsigned workers : {32u, most_workers}) {
    auto m =
        planned(asked, "step", "join", {block_quantity::step, probe_of("joins"), workers, workers, workers});
    set(m.point, workers_of_a_block, workers);
    m.method = slope_over({2, 4, 8});
    all.push_back(std::move(m));
  }
  for (unsigned active = most_workers / 2; active >= 32; active /= 2) {
    auto m = planned(asked, "step", "tree",
                     {block_quantity::step, probe_of("tree_steps"), most_workers, active, 0});
    set(m.point, workers_of_a_block, active);
    m.point.set("threads_per_block", static_cast<double>(most_workers));
    m.method = slope_over({16, 32, 64});
    all.push_back(std::move(m));
  }
}

void add_warp_sums(const study_request& asked, std::vector<measurement>& all) {
  for (const auto* way : asked.values(ways)) {
    auto m = planned(asked, "warp", way->name, {block_quantity::warp_sum, way->probe, 32, 32, 32});
    m.point.set("type", std::string(way->probe->numbers));
    all.push_back(std::move(m));
  }
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  const bool here = asked.device == topology::device::gpu && asked.first_gpu() != nullptr;
  for (const auto what : asked.values(quantities)) {
    // Where nothing can be measured: one point for each quantity, instead of all its points.
    if (!here) all.push_back(planned(asked, quantities.word_for(what), "", {}));
    else if (what == quantity::sum) add_sums(asked, all);
    else if (what == quantity::loop) add_loops(asked, all);
    else if (what == quantity::step) add_steps(asked, all);
    else add_warp_sums(asked, all);
  }
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
