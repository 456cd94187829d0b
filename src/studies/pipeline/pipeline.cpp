// Study pipeline: warp specialization (paper 003). Which configuration of a matrix product in stages is best,
// how long it takes and why, on a machine that a file describes or on the paper's.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"
#include "src/harness/study.hpp"
#include "src/models/pipeline/answer.hpp"
#include "src/results/files/json_document.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/studies/pipeline/attached_rows.hpp"
#include "src/studies/pipeline/kernel_checkers.hpp"
#include "src/studies/pipeline/kernel_rows.hpp"
#include "src/studies/pipeline/kernel_subjects.hpp"
#include "src/studies/pipeline/rows_in_turn.hpp"

namespace mgsync {
namespace pipeline { namespace {

figure picture_of(const gemm_question& asked, const timeline& schedule) {
  mgsync::timeline picture{
      {"pipeline-schedule",
       fmt::format("Loads and products of one SM: {}x{}x{}", asked.size.m, asked.size.n, asked.size.k),
       fmt::format("Simulated, on {}.", asked.on.name)},
      "ns",
      {}};
  std::map<std::string, std::size_t> places;
  for (const auto& span : schedule) {
    const auto [place, is_new] = places.try_emplace(span.track, picture.tracks.size());
    if (is_new) picture.tracks.push_back({span.track, {}});
    picture.tracks[place->second].events.push_back(
        {span.event.substr(0, span.event.find(' ')), span.begin, span.end});
  }
  return picture;
}

enum class kernel { synthetic, mma, wgmma };
constexpr std::pair<kernel, std::string_view> kernel_words[] = {{kernel::synthetic, synthetic_kernel_name},
                                                                {kernel::mma, mma_family.name},
                                                                {kernel::wgmma, wgmma_family.name}};
constexpr axis_of<kernel> kernels({.name = "kernel", .help = "which kernels are measured"}, kernel_words);

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
    {.name = "tile", .help = "of mma and wgmma: which instantiations are measured, as 128x128x64"},
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

// The file is read once, where it is used, since it may be a pipe.
constexpr axis_of<std::string> machines({.name = "machine",
                                         .help = "the machine it runs on, else h200; alone: prints its "
                                                 "machine file. paper: the RTX A6000 of paper 003, "
                                                 "which is impossible",
                                         .counts = word_count::one,
                                         .asks_model = true},
                                        read_by<std::string>{.accepted = machine_files,
                                                             .read = [](auto words, auto& into) {
                                                               into.push_back(words.front());
                                                               return std::size_t{1};
                                                             }});

constexpr axis_of<bool> solver(
    {.name = "solver",
     .help = "asks the solver (Z3) as well, for at most 4 s: a check of the answer, "
             "and never faster",
     .counts = word_count::none,
     .asks_model = true});

constexpr const axis_declaration* axes[] = {&kernels, &tiles, &sizes, &product, &machines, &solver};

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

constexpr std::chrono::milliseconds solver_limit{4000};

bool is_file(std::string_view machine) { return machine != "h200" && machine != "paper"; }

std::string machine_name(const study_request& asked) {
  const auto* name = asked.find(machines);
  return name == nullptr ? "h200" : *name;
}

// The machine that was asked for: by name, from a machine file, or from results of this study, in which case
// lines are fitted over the tiles that were measured of one kernel.
machine machine_from(const study_request& asked) {
  const auto name = machine_name(asked);
  const auto text = is_file(name) ? read_text(name, machine_files) : "";
  const bool results = text.find(results_schema) != std::string::npos;
  if (!results && asked.typed(kernels))
    throw usage_error("--kernel: it is for results with several kernels; accepted: with --machine FILE, "
                      "where FILE is results of `mgsync study pipeline`");
  if (name == "paper") return rtx_a6000();
  if (!is_file(name)) return h200();
  if (!results) {
    auto read = read_machine(text, name);
    read.from = read.from.empty() ? name : fmt::format("{}: {}", name, read.from);
    return read;
  }
  const auto document = parse_json(text, name);
  for (const auto& [_, study] : studies_in(document.results)) {
    const auto profiles = profiles_of(study.products, study.facts.sms);
    for (const gemm_family* family : {&wgmma_family, &mma_family}) {
      std::vector<tile_profile> measured;
      for (const auto& [key, profile] : profiles)
        if (std::get<0>(key) == family->name && std::get<2>(key) == 1 && wants(asked, kernel_of(*family)))
          measured.push_back(profile);
      if (measured.size() < 2) continue;
      auto fitted = fit_machine(measured, study.facts).on;
      fitted.from =
          fmt::format("{}, kernel {}, measured {} by mgsync {}", name, family->name,
                      document.started.substr(0, document.started.find('T')), document.machine.mgsync);
      return fitted;
    }
  }
  throw usage_error(fmt::format("--machine {}: these results hold no two tiles of {}; accepted: {}", name,
                                fmt::join(asked.words_of(kernels), ", "), machine_files));
}

study_answer answer_for(const study_request& asked) {
  const auto name = machine_name(asked);
  const std::vector<std::string> read(is_file(name) ? 1 : 0, name);
  for (const axis_declaration* unused :
       {static_cast<const axis_declaration*>(&tiles), static_cast<const axis_declaration*>(&sizes)})
    if (asked.typed(*unused))
      throw usage_error(fmt::format("--{}: it chooses what is measured, and here a model answers; accepted: "
                                    "--gemm, --machine, --kernel, --solver, or --{} without these",
                                    unused->name, unused->name));
  const auto* size = asked.find(product);
  if (size == nullptr) {
    if (asked.typed(solver))
      throw usage_error("--solver: it checks the answer to --gemm; accepted: with --gemm MxNxK");
    return {write_machine(machine_from(asked)), {}, nullptr, read};
  }
  gemm_question question{*size, machine_from(asked), name == "paper" ? paper_space() : wide_space()};
  if (asked.typed(solver)) question.solver_limit = solver_limit;
  const auto answered = answer(question);
  return {to_text(question, answered),
          {picture_of(question, answered.schedule)},
          std::make_shared<const nlohmann::ordered_json>(to_document(question, answered)),
          read};
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

void add_products(const study_request& asked, const gemm_family& family, std::vector<measurement>& all) {
  const auto held_out = read_sizes(asked.values(sizes));
  const auto& wanted = asked.values(tiles);
  for (int i = 0; i < static_cast<int>(family.instances.size()); ++i)
    for (int producers = 1; producers <= family.most_producers; ++producers) {
      const product_choice of{&family, i, producers};
      if (std::ranges::find(wanted, of.compiled().tile) == wanted.end()) continue;
      auto m = planned(asked, family.name, of.compiled().consumers == 2 ? "ping-pong" : "");
      set(m.point, tiles, of.compiled().tile);
      m.point.set("producers", static_cast<double>(producers));
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
      all.push_back(std::move(m));
    }
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  if (wants(asked, kernel::synthetic)) add_synthetic(asked, all);
  for (const gemm_family* family : gemm_families)
    if (wants(asked, kernel_of(*family))) add_products(asked, *family, all);
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
