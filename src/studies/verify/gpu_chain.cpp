#include "src/studies/verify/gpu_chain.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/probes/arithmetic_code.hpp"
#include "src/probes/probe_runner.hpp"

namespace mgsync::verify {
namespace {

class gpu_chain final : public subject {
 public:
  gpu_chain(std::unique_ptr<probes::runner> runner, std::string operation, chain_form form, unsigned passes)
      : runner_(std::move(runner)), operation_(std::move(operation)), form_(form), passes_(passes) {}

  seen run(const order& asked) override {
    probes::probe_order launch;
    launch.kernel =
        form_ == chain_form::looped ? fmt::format("{}_loop_{}", operation_, probes::arithmetic_loop_body)
        : form_ == chain_form::all_in_code ? fmt::format("{}_unrolled_{}", operation_, asked.count)
                                           : fmt::format("{}_{}", operation_, asked.count);
    launch.loops = form_ == chain_form::looped
                       ? static_cast<std::uint32_t>(asked.count / probes::arithmetic_loop_body)
                       : 1;
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
  std::string operation_;
  chain_form form_;
  unsigned passes_;
};

// What the code check finds wrong with the chains of this operation, in the bytes that the GPU runs.
std::vector<std::string> complaints_of(const probes::image& loaded, const std::string& operation,
                                       chain_form form) {
  std::vector<std::string> all;
  const auto code = machine_code::read_cubin(loaded.bytes);
  const auto look = [&](const machine_code::expected_code& expected) {
    for (const auto& each : machine_code::check_code(code, expected).complaints)
      all.push_back(expected.kernel + ": " + each);
  };
  if (form == chain_form::looped) look(probes::expected_add_loop(operation));
  else if (form == chain_form::all_in_code)
    for (const auto& expected : probes::unrolled_code()) look(expected);
  else
    for (const unsigned links : probes::arithmetic_lengths)
      look(probes::expected_add_chain(operation, links));
  return all;
}

}  // namespace

subject_creation make_gpu_chain(const std::string& operation, chain_form form, int gpu, unsigned passes) {
  subject_creation made;
  const auto images =
      form == chain_form::all_in_code ? probes::unrolled_images() : probes::arithmetic_images();
  auto runner = probes::runner::load(images, gpu, made.reason);
  if (!runner) return made;
  const auto complaints = complaints_of(runner->loaded(), operation, form);
  made.found["code"] = complaints.empty() ? fmt::format("sm_{}, as it must be", runner->loaded().architecture)
                                          : complaints.front();
  if (!complaints.empty()) {
    made.reason = "the machine code is not what the probe says: " + complaints.front();
    return made;
  }
  made.subject = std::make_unique<gpu_chain>(std::move(runner), operation, form, passes);
  // Measured over 5 ms of a busy SM, by both clocks.
  made.quantities["clock"] = {"MHz", {probes::measure_clock(gpu).mhz}};
  return made;
}

}  // namespace mgsync::verify
