#include "src/studies/verify/gpu_chain.hpp"

#include "src/probes/probe_runner.hpp"

namespace mgsync::verify {
namespace {

class gpu_chain final : public subject {
 public:
  gpu_chain(std::unique_ptr<probes::runner> runner, const probes::probe& chain, bool looped, unsigned passes)
      : runner_(std::move(runner)), chain_(chain), looped_(looped), passes_(passes) {}

  seen run(const run_order& asked) override {
    probes::probe_order launch;
    launch.kernel = chain_.kernel_name(looped_ ? probes::loop_256 : static_cast<int>(asked.count));
    launch.loops = looped_ ? static_cast<std::uint32_t>(asked.count / 256) : 1;
    launch.passes = passes_;
    seen came{.done = asked};
    const auto saw = runner_->run(launch, came.reason);
    if (!saw) {
      came.ended = ending::died;
      return came;
    }
    auto& cycles = came.values["cycles"];
    for (const auto each : saw->latency_cycles()) cycles.push_back(static_cast<double>(each));
    came.values["duration_us"] = {saw->host_ns * 1e-3 / passes_};
    return came;
  }

 private:
  std::unique_ptr<probes::runner> runner_;
  const probes::probe& chain_;
  bool looped_;
  unsigned passes_;
};

}  // namespace

subject_creation make_gpu_chain(const std::string& operation, chain_form form, int gpu, unsigned passes) {
  const auto& chain = form == chain_form::all_in_code
                          ? probes::probe_called("unrolled", operation + "_unrolled")
                          : probes::probe_called("arithmetic", operation);
  auto ready = probes::make_ready({&chain, 1}, gpu);
  subject_creation made;
  made.reason = ready.reason;
  if (!ready.runner) return made;
  made.found["code"] = ready.code;
  made.quantities["clock"] = {"MHz", {ready.mhz}};
  made.subject =
      std::make_unique<gpu_chain>(std::move(ready.runner), chain, form == chain_form::looped, passes);
  return made;
}

}  // namespace mgsync::verify
