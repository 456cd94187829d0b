#include "src/studies/timeline/gpu_region.hpp"

#include <fmt/format.h>

#include "src/probes/probe_runner.hpp"
#include "src/studies/timeline/region_code.hpp"
#include "src/studies/timeline/region_runs.hpp"

namespace mgsync::timelines {

namespace {

class gpu_region final : public subject {
 public:
  explicit gpu_region(std::unique_ptr<probes::runner> runner) : runner_(std::move(runner)) {}

  seen run(const order& asked) override {
    constexpr unsigned warps = region_threads / 32;
    seen came{.done = asked};
    region_recordings last_passes;
    for (const auto& expected : region_code()) {
      probes::probe_order launch;
      launch.kernel = expected.kernel;
      launch.threads = region_threads;
      launch.dynamic_shared_bytes = region_shared_bytes;
      const auto saw = runner_->run(launch, came.reason);
      if (!saw) {
        came.ended = ending::died;
        return came;
      }
      std::vector<warp_pass> passes;
      for (const auto& s : saw->stamps) passes.push_back({s.begin, s.end});
      came.values[expected.kernel] = {typical_cycles(passes, warps)};
      const auto last = recording_of_pass(std::span(passes).last(warps), saw->sm_at_end.front());
      if (expected.kernel == "region_corrected") last_passes.corrected = last;
      if (expected.kernel == "region_as_compiled") last_passes.as_compiled = last;
    }
    came.own = std::move(last_passes);
    return came;
  }

 private:
  std::unique_ptr<probes::runner> runner_;
};

}  // namespace

subject_creation make_gpu_region(int gpu) {
  subject_creation made;
  auto runner = probes::runner::load(probes::region_images(), gpu, made.reason);
  if (!runner) return made;
  const auto code = machine_code::read_cubin(runner->loaded().bytes);
  for (const auto& expected : region_code())
    for (const auto& complaint : machine_code::check_code(code, expected).complaints)
      if (made.reason.empty())
        made.reason =
            fmt::format("the machine code is not what the probe says: {}: {}", expected.kernel, complaint);
  // The check must refuse the twin; otherwise its verdict on the other kernels is void.
  const auto twin = machine_code::check_code(code, as_compiled_claims());
  if (made.reason.empty() && twin.passed())
    made.reason = "the check of the machine code lets the region pass as the compiler leaves it";
  if (!made.reason.empty()) return made;
  made.found["code"] = fmt::format("sm_{}, as it must be", code.architecture);
  made.found["twin"] = twin.complaints.front();
  made.quantities["clock"] = {"MHz", {probes::measure_clock(gpu).mhz}};
  made.subject = std::make_unique<gpu_region>(std::move(runner));
  return made;
}

}  // namespace mgsync::timelines
