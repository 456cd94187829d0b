// Study library: what does the library cost a user's kernel? Its sync() beside the algorithm alone, one step
// of a stencil beside other ways for GPUs to meet, and the fences of another kernel beside GPUs that wait in
// it.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "barriers/words.hpp"
#include "src/harness/control_and_check.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/study.hpp"
#include "src/studies/library/library_evaluation.hpp"
#include "src/studies/library/library_subjects.hpp"

namespace mgsync {
namespace library { namespace {

enum class part { sync, stencil, fence };
constexpr std::pair<part, std::string_view> part_words[] = {
    {part::sync, "sync"}, {part::stencil, "stencil"}, {part::fence, "fence"}};
constexpr axis_of<part> parts(
    {.name = "part",
     .help =
         "sync() in kernels of nothing but barriers; a step of a stencil; fences of another kernel beside "
         "GPUs that wait for a late one"},
    part_words);

constexpr axis_of<unsigned> members({.name = "members", .help = "over how many GPUs"},
                                    numbers_in{.least = 1, .most = 16, .ranges = true});
constexpr axis_of<unsigned> gpus({.name = "gpus", .help = "the same", .another_name_of = &members},
                                 numbers_in{.least = 1, .most = 16, .ranges = true});

constexpr axis_of<shape> shapes({.name = "shape", .help = "of the grids that synchronize, on each GPU"},
                                read_by<shape>{.defaults = "b1x32,1x32,1x1024,4x256,8x256,16x64,32x64",
                                               .accepted = accepted_shapes,
                                               .read = read_shapes});

constexpr axis_of<unsigned> cells({.name = "cells", .help = "rows, and columns, of the stencil's plate"},
                                  numbers_in{.least = 64, .most = 32768, .defaults = "1024,4096,16384"});

// Results of several builds in one document say with it which is which.
constexpr axis_of<std::string> codes(
    {.name = "code",
     .help = "what this build is called, in tables that compare builds",
     .counts = word_count::one},
    read_by<std::string>{.accepted = "a name that begins with a letter", .read = [](auto words, auto& into) {
                           const auto first = words.front().empty() ? '\0' : words.front().front();
                           if (std::isalpha(static_cast<unsigned char>(first)) == 0) return std::size_t{0};
                           into.push_back(words.front());
                           return std::size_t{1};
                         }});

constexpr const axis_declaration* axes[] = {&parts, &members, &gpus, &shapes, &cells, &codes};

constexpr refused_option refused[] = {
    {"no-pin", "its members are GPUs, and no thread is pinned"},
    {"oversubscribe", "its members are GPUs, and no host threads"},
};

// Every timed run says what it compared with what must come out.
class known_answers final : public checker {
 public:
  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) {
      if (!run.checked) continue;
      v_.rounds += run.checked->rounds;
      v_.observations += run.checked->compared;
      v_.violations += run.checked->wrong;
    }
  }
  verdict judge() const override {
    verdict now = v_;
    now.kind = verdict_kind::known_answer;
    now.passed = now.observations > 0 && now.violations == 0;
    return now;
  }

 private:
  verdict v_;
};

// The difference of two runs of given lengths, as the points of a cell take turns.
std::function<std::unique_ptr<method>()> difference(const study_request& asked, std::uint32_t few,
                                                    std::uint32_t many, std::chrono::milliseconds most) {
  return [stopping = asked.stops({.precision = 0.005, .max_time = most}), few, many] {
    rounds_difference_settings settings;
    settings.lengths_given = rounds_choice{few, many};
    settings.stopping = stopping;
    return std::make_unique<rounds_difference>(settings);
  };
}

class planning {
 public:
  explicit planning(const study_request& asked) : asked_(asked) {}

  std::vector<measurement> points() {
    std::vector<unsigned> counts = asked_.values(members);
    if (counts.empty()) counts = default_counts();
    for (const auto what : asked_.values(parts))
      for (const unsigned count : counts) add(what, count);
    return std::move(all_);
  }

 private:
  // One GPU, and all.
  std::vector<unsigned> default_counts() const {
    const auto here = static_cast<unsigned>(asked_.machine().gpus.size());
    return here > 1 ? std::vector{1u, here} : std::vector{1u};
  }

  void add(part what, unsigned count) {
    if (what == part::stencil) {
      for (const unsigned size : asked_.values(cells))
        for (const auto& [form, word] : enum_words<step_form>::list) add_steps(count, size, form, word);
      return;
    }
    if (what == part::fence) add_fences(count, {});
    for (const auto& of : asked_.values(shapes)) {
      if (what == part::fence) add_fences(count, of);
      // One block in all meets nobody: sync() leaves the flags alone that the algorithm would count on.
      else if (count > 1 || !of.blocks)
        for (const auto& [form, word] : enum_words<sync_form>::list) add_sync(count, of, form, word);
    }
  }

  measurement planned(std::string_view subject, std::string_view variant, unsigned count) {
    auto m = measurement_of(asked_, "library", subject, variant);
    m.point.device = topology::device::gpu;
    m.point.members = static_cast<int>(count);
    m.point.group.clear();
    const auto& here = asked_.machine().gpus;
    for (unsigned g = 0; g < std::min<std::size_t>(count, here.size()); ++g)
      m.point.group.push_back(here[g].id);
    if (asked_.device != topology::device::gpu) m.waived = "these are kernels for GPUs";
    else if (!asked_.with_cuda) m.waived = "this mgsync was built without CUDA";
    else if (count > here.size())
      m.waived = fmt::format("{} GPUs are asked for, and {} are here", count, here.size());
    if (const auto* code = asked_.find(codes)) m.point.set(codes.name, *code);
    return m;
  }
  std::vector<int> ordinals(unsigned count) const {
    std::vector<int> all;
    for (unsigned g = 0; g < std::min<std::size_t>(count, asked_.machine().gpus.size()); ++g)
      all.push_back(asked_.machine().gpus[g].cuda_ordinal.value_or(static_cast<int>(g)));
    return all;
  }
  grid_shape grid_of(unsigned count, const shape& of, point& p) const {
    if (of.blocks) p.set(mgsync::axes::blocks, static_cast<double>(*of.blocks));
    else p.set(mgsync::axes::blocks_per_sm, static_cast<double>(of.blocks_per_sm.value_or(1)));
    p.set(mgsync::axes::threads_per_block, static_cast<double>(of.threads_per_block));
    return {ordinals(count), of.blocks.value_or(0), of.blocks_per_sm.value_or(1), of.threads_per_block};
  }
  template <class Make>
  void add(measurement m, Make make) {
    m.create = [make] {
      auto made = make();
      return subject_creation{std::move(made.subject), made.reason, {}};
    };
    all_.push_back(std::move(m));
  }

  void add_sync(unsigned count, const shape& of, sync_form form, std::string_view word) {
    auto m = planned("sync", word, count);
    const auto grid = grid_of(count, of, m.point);
    m.cell = fmt::format("sync {} {}", count, to_string(of));
    m.method = difference(asked_, 96, 96 + 1920, std::chrono::milliseconds(300));  // whole turns of 1, 2, 3
    m.checker = [rounds = asked_.settings.check_rounds / 6 * 6] {
      return std::make_unique<control_and_check>(verdict_kind::rounds, rounds);
    };
    if constexpr (MGSYNC_WITH_CUDA) add(std::move(m), [grid, form] { return make_sync(grid, form); });
    else all_.push_back(std::move(m));
  }
  void add_steps(unsigned count, unsigned size, step_form form, std::string_view word) {
    auto m = planned("stencil", word, count);
    set(m.point, cells, size);
    m.cell = fmt::format("stencil {} {}", count, size);
    const unsigned few = size >= 8192 ? 20 : 100;  // whole graphs of 20 steps
    m.method = difference(asked_, few, 11 * few, std::chrono::milliseconds(1500));
    m.checker = [steps = asked_.settings.check_rounds == 0 ? 0u : 40u] {
      return std::make_unique<control_and_check>(verdict_kind::sum, steps);
    };
    if constexpr (MGSYNC_WITH_CUDA)
      add(std::move(m), [of = ordinals(count), size, form] { return make_steps(of, size, form); });
    else all_.push_back(std::move(m));
  }
  void add_fences(unsigned count, const std::optional<shape>& of) {
    auto m = planned("fence", "", count);
    grid_shape grid{ordinals(count), 0, 0, 0};
    if (of) grid = grid_of(count, *of, m.point);
    if (count < 2 && m.waived.empty())
      m.waived = "nobody is late among the blocks of one GPU: 2 GPUs or more";
    m.cell = fmt::format("fence {}", count);
    m.method = [stopping = asked_.stops({.max_time = std::chrono::milliseconds(2500)})] {
      one_run_settings settings;
      settings.value = "mean_cycles";
      settings.measured = {"mean", "cycles"};
      settings.beside = {{"p99", "cycles"}, {"most", "cycles"}};
      settings.runs_per_batch = 1;
      settings.warm_ups = 0;
      settings.stopping = stopping;
      return std::make_unique<one_run>(settings);
    };
    m.checker = [] { return std::make_unique<known_answers>(); };
    if constexpr (MGSYNC_WITH_CUDA) add(std::move(m), [grid] { return make_fences(grid); });
    else all_.push_back(std::move(m));
  }

  const study_request& asked_;
  std::vector<measurement> all_;
};

std::vector<measurement> points(const study_request& asked) { return planning(asked).points(); }

}}  // namespace library

extern const study library_study;
const study library_study{.name = "library",
                          .summary =
                              "what the library costs a user's kernel: sync() beside the algorithm alone, "
                              "a stencil's step, other kernels' fences",
                          .axes = library::axes,
                          .points = library::points,
                          .evaluate = library::evaluate,
                          .seconds_per_point = 1,
                          .refuses = library::refused};

}  // namespace mgsync
