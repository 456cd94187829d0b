// Study pipeline: warp specialization (paper 003). Which configuration of a matrix product in stages is best,
// how long it takes and why, on a machine that a file describes or on the paper's.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"
#include "src/harness/study.hpp"
#include "src/models/pipeline/answer.hpp"
#include "src/studies/pipeline/attached_rows.hpp"
#include "src/studies/pipeline/kernel_checkers.hpp"
#include "src/studies/pipeline/kernel_rows.hpp"
#include "src/studies/pipeline/kernel_subjects.hpp"
#include "src/studies/pipeline/model_answers.hpp"
#include "src/studies/pipeline/rows_in_turn.hpp"

namespace mgsync {
namespace pipeline { namespace {

enum class kernel { synthetic, mma, wgmma, cublas };
constexpr std::pair<kernel, std::string_view> kernel_words[] = {{kernel::synthetic, synthetic_kernel_name},
                                                                {kernel::mma, mma_family.name},
                                                                {kernel::wgmma, wgmma_family.name},
                                                                {kernel::cublas, cublas_family.name}};
constexpr axis_of<kernel> kernels({.name = "kernel",
                                   .help = "which kernels are measured; with --gemm: considered"},
                                  kernel_words);

// The tiles of all kernel families, each once.
std::vector<std::pair<extent, std::string>> compiled_tiles() {
  std::vector<std::pair<extent, std::string>> all;
  for (const gemm_family* family : gemm_families)
    for (const gemm_instance& i : family->instances)
      if (const std::pair one{i.tile, text(i.tile)}; std::ranges::find(all, one) == all.end())
        all.push_back(one);
  return all;
}
constexpr axis_of<extent> tiles(
    {.name = "tile",
     .help = "of mma and wgmma: which instantiations are measured, as 128x128x64; with --gemm: considered"},
    names_in<compiled_tiles>{});

constexpr axis_of<std::string> sizes({.name = "size",
                                      .help = "products that the calibrated model is to predict"},
                                     read_by<std::string>{.defaults = "paper,random,large",
                                                          .accepted = accepted_sizes,
                                                          .read = [](auto words, auto& into) {
                                                            read_sizes(words.first(1));
                                                            into.push_back(words.front());
                                                            return std::size_t{1};
                                                          }});

constexpr axis_of<extent> product(
    {.name = "gemm",
     .help = "the product C = A B whose best configuration is asked for: MxNxK, as 1024x1024x512",
     .counts = word_count::one,
     .asks_model = true},
    read_by<extent>{.accepted = accepted_extents, .read = [](auto words, auto& into) {
                      into.push_back(read_extent(words.front()));
                      return std::size_t{1};
                    }});

// A file is read once, where it is used, since it may be a pipe.
constexpr axis_of<std::string> machines({.name = "machine",
                                         .help = "the machine it runs on; alone: prints its machine file. "
                                                 "paper: the RTX A6000 of paper 003, which is impossible",
                                         .asks_model = true},
                                        read_by<std::string>{.defaults = "h200",
                                                             .accepted = machine_files,
                                                             .read = [](auto words, auto& into) {
                                                               into.push_back(words.front());
                                                               return std::size_t{1};
                                                             }});

constexpr axis_of<int> buffer_counts({.name = "buffers",
                                      .help = "with --gemm: with how many buffers, else as is best",
                                      .asks_model = true},
                                     numbers_in{.least = 1, .most = 8, .defaults = "1-8", .ranges = true});
constexpr axis_of<int> producer_counts({.name = "producers",
                                        .help = "with --gemm: with how many producers, else as is best",
                                        .asks_model = true},
                                       numbers_in{.least = 1, .most = 2, .defaults = "1,2"});
constexpr axis_of<int> consumer_counts(
    {.name = "consumers",
     .help = "with --gemm: 1, or 2 that take turns (ping-pong); else as is best",
     .asks_model = true},
    numbers_in{.least = 1, .most = 2, .defaults = "1,2"});
constexpr axis_of<bool> all_tiles(
    {.name = "all_tiles",
     .help = "with --gemm: also tiles that no kernel was compiled or measured with, by "
             "lines over those that were",
     .counts = word_count::none,
     .asks_model = true});

constexpr axis_of<bool> solver(
    {.name = "solver",
     .help = "with --gemm by lines, and --attention: asks the solver (Z3) as well, for at most 4 s: a check "
             "of the answer, and never faster",
     .counts = word_count::none,
     .asks_model = true});

constexpr axis_of<std::string> skeleton_file(
    {.name = "skeleton",
     .help = "with --gemm: a file for the best kernel, as a CUDA program of its own with a check and a clock",
     .counts = word_count::one,
     .asks_model = true},
    read_by<std::string>{.accepted = "a file, or - for stdout", .read = [](auto words, auto& into) {
                           const std::string& word = words.front();
                           if (word.empty() || (word.starts_with('-') && word != "-")) return std::size_t{0};
                           into.push_back(word);
                           return std::size_t{1};
                         }});

constexpr double longest_ns = 1e8;
constexpr axis_of<attention_ns> attention(
    {.name = "attention",
     .help =
         "two products with a softmax between, ping-pong or cooperative: what a load of a tile of K or V, "
         "QK, the softmax and PV take of one stage, in ns",
     .asks_model = true},
    read_by<attention_ns>{.accepted = "four times in ns of at most 100ms, as 200,300,350,300",
                          .read = [](auto words, auto& into) -> std::size_t {
                            std::array<double, 4> ns{};
                            if (words.size() != ns.size()) return 0;
                            for (std::size_t i = 0; i < ns.size(); ++i) {
                              const auto one = in_unit(words[i], "ns");
                              if (!one || !(*one >= 0 && *one <= longest_ns)) return 0;
                              ns[i] = *one;
                            }
                            into.push_back({ns[0], ns[1], ns[2], ns[3]});
                            return ns.size();
                          }});
constexpr axis_of<int> attention_stages({.name = "stages",
                                         .help = "with --attention: how many tiles of K and V, else 64",
                                         .counts = word_count::one,
                                         .asks_model = true},
                                        numbers_in{.least = 1, .most = 1 << 20});

constexpr const axis_declaration* axes[] = {
    &kernels,         &tiles,     &sizes,  &product,       &machines,  &buffer_counts,   &producer_counts,
    &consumer_counts, &all_tiles, &solver, &skeleton_file, &attention, &attention_stages};

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked: every product and every handover is compared"},
    {"no-check", "no rounds are checked: every product and every handover is compared"},
    {"precision", "each row is measured a number of times that is known beforehand"},
    {"max-time", "each row is measured a number of times that is known beforehand"},
    {"no-pin", "its members are GPUs, and no thread is pinned"},
    {"oversubscribe", "its members are GPUs, and no host threads"},
};

bool wants(const study_request& asked, kernel one) {
  const auto& all = asked.values(kernels);
  return std::ranges::find(all, one) != all.end();
}

kernel kernel_of(const gemm_family& family) { return &family == &mma_family ? kernel::mma : kernel::wgmma; }

study_answer answer_for(const study_request& asked) {
  if (asked.typed(sizes))
    throw usage_error("--size: it chooses what is measured, and here a model answers; accepted: --gemm, or "
                      "--size without it");
  model_request wanted;
  if (const auto* size = asked.find(product)) wanted.size = *size;
  wanted.machines = asked.values(machines);
  if (asked.typed(kernels))
    for (const kernel one : asked.values(kernels)) wanted.of.kernels.push_back(kernels.word_for(one));
  if (asked.typed(tiles)) wanted.of.tiles = asked.values(tiles);
  if (asked.typed(buffer_counts)) wanted.of.buffers = asked.values(buffer_counts);
  if (asked.typed(producer_counts)) wanted.of.producers = asked.values(producer_counts);
  if (asked.typed(consumer_counts)) wanted.of.consumers = asked.values(consumer_counts);
  wanted.all_tiles = asked.typed(all_tiles);
  wanted.solver = asked.typed(solver);
  if (const auto* file = asked.find(skeleton_file)) wanted.skeleton = *file;
  if (const auto* times = asked.find(attention)) wanted.attention = *times;
  if (const auto* count = asked.find(attention_stages)) wanted.stages = *count;
  return answer_to(wanted);
}

constexpr int held_out_settings = 60;  // for each kind of semaphore
constexpr std::array<std::string_view, 4> semaphores = {"named-barrier", "mbarrier", "cuda-pipeline",
                                                        "block-barrier"};

measurement planned(const study_request& asked, std::string_view subject, std::string_view variant) {
  return measurement_of(asked, "pipeline", subject, variant);
}

// Why no kernel that needs this compute capability can run here; empty where it can.
std::string why_not(const study_request& asked, int least_major, bool this_one_only) {
  if (asked.device != topology::device::gpu)
    return "this kernel runs on GPUs only; the model, its simulator and its solver answer anywhere: --gemm "
           "MxNxK";
  if (!asked.with_cuda) return "this mgsync was built without CUDA";
  const auto& gpu = *asked.first_gpu();
  const int major = gpu.compute_major.value_or(least_major), minor = gpu.compute_minor.value_or(0);
  if (this_one_only && (major != least_major || minor != 0))
    return fmt::format("wgmma exists on compute capability 9.0 only, and this GPU has {}.{}", major, minor);
  return major < least_major ? fmt::format("it needs compute capability {}.0, and this GPU has {}.{}",
                                           least_major, major, minor)
                             : "";
}

void add_synthetic(const study_request& asked, std::vector<measurement>& all) {
  for (std::size_t i = 0; i < semaphores.size(); ++i) {
    auto m = planned(asked, synthetic_kernel_name, semaphores[i]);
    m.waived = why_not(asked, 8, false);
    const auto plan = std::make_shared<kernel_plan>();
    if constexpr (MGSYNC_WITH_CUDA)
      m.create = [i, plan, gpu = asked.first_ordinal()] {
        return make_synthetic(i, held_out_settings, gpu, plan);
      };
    m.checker = [plan] { return std::make_unique<handover_checker>(plan); };
    m.method = [plan] {
      rows_settings settings;
      settings.rows = [plan] { return plan->synthetic.size(); };
      settings.value = "cycles";
      settings.columns.assign(synthetic_columns().begin(), synthetic_columns().end());
      settings.figures = [plan](std::span<const double> times) {
        auto rows = plan->synthetic;
        for (std::size_t k = 0; k < rows.size(); ++k) set_times(rows[k], {times[k]});
        return synthetic_figures(rows);
      };
      settings.description = "cycle counter of the SM, fit on some settings and errors over others";
      return std::make_unique<rows_in_turn>(settings);
    };
    all.push_back(std::move(m));
  }
}

measurement product_point(const study_request& asked, const product_choice& of) {
  const gemm_family& family = *of.family;
  const auto held_out = read_sizes(asked.values(sizes));
  auto m = planned(asked, family.name, of.compiled().consumers == 2 ? "ping-pong" : "");
  if (&family != &cublas_family) {
    set(m.point, tiles, of.compiled().tile);
    m.point.set("producers", static_cast<double>(of.producers));
  }
  m.point.set("sizes", fmt::format("{}", fmt::join(asked.values(sizes), ",")));
  m.waived = &family == &wgmma_family ? why_not(asked, 9, true) : why_not(asked, 8, false);
  const auto plan = std::make_shared<kernel_plan>();
  if constexpr (MGSYNC_WITH_CUDA)
    m.create = [of, held_out, plan, gpu = asked.first_ordinal()] {
      return make_product(of, held_out, gpu, plan);
    };
  m.checker = [plan] { return std::make_unique<product_checker>(plan); };
  m.method = [plan] {
    rows_settings settings;
    settings.rows = [plan] { return plan->products.size(); };
    settings.value = "time_ns";
    settings.columns.assign(product_columns().begin(), product_columns().end());
    settings.figures = [plan](std::span<const double> times) {
      auto rows = plan->products;
      for (std::size_t k = 0; k < rows.size(); ++k) set_times(rows[k], {times[k]});
      return product_figures(rows, plan->sms);
    };
    settings.description = "GPU events around 16 launches, calibration and held-out sizes";
    return std::make_unique<rows_in_turn>(settings);
  };
  return m;
}

void add_products(const study_request& asked, const gemm_family& family, std::vector<measurement>& all) {
  const auto& wanted = asked.values(tiles);
  for (int i = 0; i < static_cast<int>(family.instances.size()); ++i)
    for (int loading = 1; loading <= family.most_producers; ++loading)
      if (const product_choice of{&family, i, loading};
          std::ranges::find(wanted, of.compiled().tile) != wanted.end())
        all.push_back(product_point(asked, of));
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  if (wants(asked, kernel::synthetic)) add_synthetic(asked, all);
  for (const gemm_family* family : gemm_families)
    if (wants(asked, kernel_of(*family))) add_products(asked, *family, all);
  if (wants(asked, kernel::cublas)) all.push_back(product_point(asked, {&cublas_family, 0, 1}));
  return all;
}

}}  // namespace pipeline

extern const study pipeline_study;
const study pipeline_study{
    .name = "pipeline",
    .summary =
        "warp specialization: which configuration of a matrix product in stages, how long it takes, and why",
    .axes = pipeline::axes,
    .points = pipeline::points,
    .evaluate = pipeline::evaluate_results,
    .seconds_per_point = 2.5,
    .answer = pipeline::answer_for,
    .refuses = pipeline::refused};

}  // namespace mgsync
