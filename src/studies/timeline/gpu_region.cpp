#include "src/studies/timeline/gpu_region.hpp"

#include <fmt/format.h>

#include "src/probes/probe_runner.hpp"
#include "src/studies/timeline/region_runs.hpp"

namespace mgsync::timelines {

namespace {

std::vector<std::string> kernels_of_region() {
  std::vector<std::string> all;
  for (const auto& one : probes::probes_of("region"))
    for (const int kernel : one.kernels) all.push_back(one.kernel_name(kernel));
  return all;
}

class gpu_region final : public subject {
 public:
  explicit gpu_region(std::unique_ptr<probes::runner> runner) : runner_(std::move(runner)) {}

  seen run(const order& asked) override {
    constexpr unsigned warps = region_threads / 32;
    seen came{.done = asked};
    region_recordings last_passes;
    for (const auto& kernel : kernels_of_region()) {
      probes::probe_order launch;
      launch.kernel = kernel;
      launch.threads = region_threads;
      launch.dynamic_shared_bytes = region_shared_bytes;
      const auto saw = runner_->run(launch, came.reason);
      if (!saw) {
        came.ended = ending::died;
        return came;
      }
      std::vector<warp_pass> passes;
      for (const auto& s : saw->stamps) passes.push_back({s.begin, s.end});
      came.values[kernel] = {typical_cycles(passes, warps)};
      const auto last = recording_of_pass(std::span(passes).last(warps), saw->sm_at_end.front());
      if (kernel == "region_corrected") last_passes.corrected = last;
      if (kernel == "region_as_compiled") last_passes.as_compiled = last;
    }
    came.own = std::move(last_passes);
    return came;
  }

 private:
  std::unique_ptr<probes::runner> runner_;
};

}  // namespace

subject_creation make_gpu_region(int gpu) {
  auto ready = probes::make_ready(probes::probes_of("region"), gpu);
  subject_creation made;
  made.reason = ready.reason;
  if (!ready.runner) return made;
  made.found["code"] = ready.code;
  made.found["twin"] = ready.twin;
  made.quantities["clock"] = {"MHz", {ready.mhz}};
  made.subject = std::make_unique<gpu_region>(std::move(ready.runner));
  return made;
}

}  // namespace mgsync::timelines
