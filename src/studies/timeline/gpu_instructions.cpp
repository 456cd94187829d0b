#include "src/studies/timeline/gpu_instructions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/probes/probe_runner.hpp"
#include "src/studies/timeline/region_code.hpp"
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

// A subject of these kernels once their machine code has passed the check; otherwise the reason why there is
// none.
subject_creation make(int gpu, const std::vector<machine_code::expected_code>& code,
                      const machine_code::expected_code* twin, const probes::probe_order& like) {
  subject_creation made;
  auto runner = probes::runner::load(probes::instructions_images(), gpu, made.reason);
  if (!runner) return made;
  const auto image = machine_code::read_cubin(runner->loaded().bytes);
  std::vector<probes::probe_order> launches;
  for (const auto& expected : code) {
    if (!runner->has(expected.kernel))
      made.reason = fmt::format("compute capability {}.{} has no such instruction", image.architecture / 10,
                                image.architecture % 10);
    for (const auto& complaint : machine_code::check_code(image, expected).complaints)
      if (made.reason.empty())
        made.reason =
            fmt::format("the machine code is not what the probe says: {}: {}", expected.kernel, complaint);
    launches.push_back(like);
    launches.back().kernel = expected.kernel;
  }
  if (!made.reason.empty()) return made;
  made.found["code"] = fmt::format("sm_{}, as it must be", image.architecture);
  if (twin != nullptr) {
    const auto refused = machine_code::check_code(image, *twin);
    made.found["twin"] =
        refused.passed() ? "the check of the machine code cannot tell it apart" : refused.complaints.front();
  }
  made.quantities["clock"] = {"MHz", {probes::measure_clock(gpu).mhz}};
  made.subject = std::make_unique<gpu_kernels>(std::move(runner), std::move(launches));
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
  const auto twin = twin_claims(i);
  return make(gpu, code_of(i), i.once ? &twin : nullptr, like);
}

subject_creation make_gpu_pairs(int gpu) {
  probes::probe_order like;
  like.threads = 32;  // one warp only, so that no other warps overlap with the pair
  like.dynamic_shared_bytes = region_shared_bytes;
  return make(gpu, code_of_pairs(), nullptr, like);
}

}  // namespace mgsync::timelines
