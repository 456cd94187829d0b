// What study library times on GPUs: sync() in kernels of nothing but barriers, steps of a stencil, and
// another kernel's fences beside GPUs that wait for a late one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/enum_words.hpp"
#include "src/harness/subject.hpp"
#include "src/studies/library/sync_form.hpp"

namespace mgsync::library {

// How the GPUs meet between two steps of a stencil: by sync() inside one kernel; or a kernel per step, and
// between them events or NCCL's exchange of the halos, launched or in a graph.
enum class step_form { in_kernel, events, events_graph, nccl, nccl_graph };

// GPUs of this process by their CUDA ordinals, and the grid on each: `blocks` of them, or 0 and blocks per
// SM.
struct grid_shape {
  std::vector<int> gpus;
  unsigned blocks = 0;
  unsigned blocks_per_sm = 1;
  unsigned threads = 32;
};

// A subject, or the reason why there is none here.
struct creation {
  std::unique_ptr<mgsync::subject> subject;
  std::string reason{};
};

// Runs carry out `count` barriers ("duration_us"); checking runs compare payloads, and with a fault the first
// block publishes its own too late.
creation make_sync(const grid_shape&, sync_form);
// Runs carry out `count` steps over `cells` x `cells` ("duration_us"); checking runs compare the result with
// that of one GPU, and with a fault they make a step less.
creation make_steps(const std::vector<int>& gpus, unsigned cells, step_form);
// Runs time fences of system scope after stores to the last GPU ("mean_cycles", "p99_cycles", "most_cycles"),
// while the grids wait for it in sync(); without threads nothing waits. Each run checks that the last store
// arrived and that all rounds were passed.
creation make_fences(const grid_shape&);

}  // namespace mgsync::library

namespace mgsync {
template <>
struct enum_words<library::sync_form> {
  using form = library::sync_form;
  static constexpr std::pair<form, std::string_view> list[] = {
      {form::algorithm, "algorithm"},
      {form::one, "1"},
      {form::two, "2"},
      {form::three, "3"},
      {form::one_without_looks, "1-without-looks"},
      {form::one_without_a_word, "1-without-a-word"},
      {form::one_without_a_verdict, "1-without-a-verdict"}};
};
template <>
struct enum_words<library::step_form> {
  using form = library::step_form;
  static constexpr std::pair<form, std::string_view> list[] = {{form::in_kernel, "in-kernel-barrier"},
                                                               {form::events, "kernel-boundary-events"},
                                                               {form::events_graph, "kernel-boundary-graph"},
                                                               {form::nccl, "NCCL-halos"},
                                                               {form::nccl_graph, "NCCL-halos-graph"}};
};
}  // namespace mgsync
