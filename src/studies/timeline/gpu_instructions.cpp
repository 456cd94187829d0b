#include "src/studies/timeline/gpu_instructions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/probes/probe_runner.hpp"
#include "src/studies/timeline/region_runs.hpp"

namespace mgsync::timelines {

namespace {

class gpu_kernels final : public subject {
 public:
  gpu_kernels(std::unique_ptr<probes::runner> runner, std::vector<probes::probe_order> launches)
      : runner_(std::move(runner)), launches_(std::move(launches)) {}

  seen run(const order& asked) override {
    seen came{.done = asked};
    for (const auto& launch : launches_) {
      const auto saw = runner_->run(launch, came.reason);
      if (!saw) {
        came.ended = ending::died;
        return came;
      }
      // The cycles of each pass, from the last warp's start to the first warp's end, without the first pass,
      // which meets cold caches.
      auto cycles = saw->latency_cycles();
      if (cycles.empty()) {
        came.ended = ending::wrong;
        came.reason = fmt::format("{} gave no two clock reads on one SM", launch.kernel);
        return came;
      }
      std::ranges::sort(cycles);
      came.values[launch.kernel] = {static_cast<double>(cycles[cycles.size() / 2])};
    }
    return came;
  }

 private:
  std::unique_ptr<probes::runner> runner_;
  std::vector<probes::probe_order> launches_;
};

// A subject of all kernels of these probes.
subject_creation make(int gpu, std::span<const probes::probe> those, const probes::probe_order& like) {
  auto ready = probes::make_ready(those, gpu);
  subject_creation made;
  made.reason = ready.reason;
  if (!ready.runner) return made;
  made.found["code"] = ready.code;
  if (!ready.twin.empty()) made.found["twin"] = ready.twin;
  made.quantities["clock"] = {"MHz", {ready.mhz}};
  std::vector<probes::probe_order> launches;
  for (const auto& one : those)
    for (const int kernel : one.kernels) {
      launches.push_back(like);
      launches.back().kernel = one.kernel_name(kernel);
    }
  made.subject = std::make_unique<gpu_kernels>(std::move(ready.runner), std::move(launches));
  return made;
}

}  // namespace

subject_creation make_gpu_instruction(int gpu, const instruction& i, unsigned varied) {
  probes::probe_order like;
  like.cluster = i.cluster;
  like.blocks = i.cluster;
  like.threads = i.threads;
  like.dynamic_shared_bytes = instruction_shared_bytes;
  if (i.varied == "ways") like.words = varied;
  if (i.varied == "warps") like.threads = 32 * varied;
  return make(gpu, {&i, 1}, like);
}

subject_creation make_gpu_pairs(int gpu) {
  probes::probe_order like;
  like.threads = 32;  // one warp only, so that no other warps overlap with the pair
  like.dynamic_shared_bytes = region_shared_bytes;
  return make(gpu, probes::probes_of("pairs"), like);
}

}  // namespace mgsync::timelines
