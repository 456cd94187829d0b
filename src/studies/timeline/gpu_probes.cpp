#include "src/studies/timeline/gpu_probes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/probes/probe_runner.hpp"
#include "src/studies/timeline/region_runs.hpp"

namespace mgsync::timelines {

namespace {

class gpu_kernels : public subject {
 public:
  gpu_kernels(std::unique_ptr<probes::runner> runner, std::span<const probes::probe> those,
              const probes::probe_order& like)
      : runner_(std::move(runner)) {
    for (const auto& one : those)
      for (const int kernel : one.kernels) launches_.emplace_back(like).kernel = one.kernel_name(kernel);
  }

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    for (const auto& launch : launches_) {
      const auto saw = runner_->run(launch, came.reason);
      if (saw) take(*saw, came);
      else came.ended = ending::died;
      if (came.ended != ending::completed) return came;
    }
    return came;
  }

 private:
  // The cycles of each pass, from the last warp's start to the first warp's end, without the first pass,
  // which meets cold caches.
  virtual void take(const probes::probe_seen& saw, seen& came) const {
    auto cycles = saw.latency_cycles();
    if (cycles.empty()) {
      came.ended = ending::wrong;
      came.reason = fmt::format("{} gave no two clock reads on one SM", saw.asked.kernel);
      return;
    }
    std::ranges::sort(cycles);
    came.values[saw.asked.kernel] = {static_cast<double>(cycles[cycles.size() / 2])};
  }

  std::unique_ptr<probes::runner> runner_;
  std::vector<probes::probe_order> launches_;
};

class gpu_region final : public gpu_kernels {
  using gpu_kernels::gpu_kernels;

  void take(const probes::probe_seen& saw, seen& came) const override {
    came.values[saw.asked.kernel] = {typical_cycles(saw.stamps, saw.warps)};
    if (!came.own.has_value()) came.own = region_recordings();
    auto& last = std::any_cast<region_recordings&>(came.own);
    const bool twin = saw.asked.kernel == "region_as_compiled";
    if (twin || saw.asked.kernel == "region_corrected")
      (twin ? last.as_compiled : last.corrected) =
          recording_of_pass(std::span(saw.stamps).last(saw.warps), saw.sm_at_end.front());
  }
};

template <class Subject>
subject_creation make(int gpu, std::span<const probes::probe> those, const probes::probe_order& like) {
  auto ready = probes::make_ready(those, gpu);
  subject_creation made;
  made.reason = ready.reason;
  if (!ready.runner) return made;
  made.found["code"] = ready.code;
  if (!ready.twin.empty()) made.found["twin"] = ready.twin;
  made.quantities["clock"] = {"MHz", {ready.mhz}};
  made.subject = std::make_unique<Subject>(std::move(ready.runner), those, like);
  return made;
}

}  // namespace

subject_creation make_gpu_region(int gpu) {
  return make<gpu_region>(gpu, probes::probes_of("region"),
                          {.threads = region_threads, .dynamic_shared_bytes = region_shared_bytes});
}

subject_creation make_gpu_instruction(int gpu, const instruction& i, unsigned varied) {
  return make<gpu_kernels>(gpu, {&i, 1},
                           {.blocks = i.cluster,
                            .threads = i.varied == "warps" ? 32 * varied : i.threads,
                            .cluster = i.cluster,
                            .words = i.varied == "ways" ? varied : 0,
                            .dynamic_shared_bytes = instruction_shared_bytes});
}

// One warp only, so that no other warps overlap with the pair.
subject_creation make_gpu_pairs(int gpu) {
  return make<gpu_kernels>(gpu, probes::probes_of("pairs"),
                           {.threads = 32, .dynamic_shared_bytes = region_shared_bytes});
}

}  // namespace mgsync::timelines
