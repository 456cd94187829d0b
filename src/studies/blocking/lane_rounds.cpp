#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "barriers/parts/gpu_team/launch.hpp"
#include "src/base/cuda.hpp"
#include "src/studies/blocking/case_board.hpp"
#include "src/studies/blocking/gpu_case_kernels.hpp"
#include "src/studies/blocking/gpu_process.hpp"
#include "src/studies/blocking/held_rounds.hpp"

namespace mgsync::blocking {
namespace {

using steady = std::chrono::steady_clock;

struct rounds_seen {
  unsigned long long violations = 0, wrong = 0;
  unsigned hung_in = 0;
  std::vector<double> begin, end;  // by lane, from the first begin on
};

// Runs the rounds over as many warps as the GPU holds at eight per SM, in one launch, whose first block is
// the guard.
rounds_seen carry_out_rounds(const blocking_case& c, bool with_barrier, std::uint64_t& rounds) {
  const int gpu = c.gpus.front();
  const void* kernel = kernel_of_lane_rounds(c.method, with_barrier);
  const auto warps = static_cast<unsigned>(8 * cuda::sm_count(gpu) - 1);
  const auto each = std::max(1u, (c.rounds + warps - 1) / warps);
  rounds = std::uint64_t{each} * warps;
  // Never freed: after a trap CUDA can free nothing, and the process ends.
  static std::vector<cuda::memory> kept;
  kept.push_back(cuda::memory::on_gpu(gpu, 3 * sizeof(unsigned long long)));
  auto* first = kept.back().as<unsigned long long>();
  kept.push_back(cuda::memory::on_gpu(gpu, 64 * sizeof(long long)));
  auto* stamps = kept.back().as<long long>();
  kept.push_back(cuda::memory::on_host(2 * sizeof(unsigned)));
  auto* told = kept.back().as<unsigned>();
  lane_rounds a{each,
                static_cast<unsigned>(c.seed),
                4'000'000'000ull,
                first,
                first + 1,
                reinterpret_cast<unsigned*>(first + 2),
                told,
                told + 1,
                stamps,
                stamps + 32};
  void* arguments[] = {&a};
  static cuda::stream stream = cuda::make_stream();
  cuda::check(cudaLaunchKernel(kernel, dim3(warps + 1), dim3(32), arguments, 0, stream.get()),
              "launching rounds of lanes");
  rounds_seen seen;
  const auto status = gpu_team::end_of(stream.get(), steady::now() + std::chrono::milliseconds(5500),
                                       std::chrono::milliseconds(1));
  if (status != cudaSuccess) {
    const auto* words = static_cast<const volatile unsigned*>(told);
    if (words[0] != 0) {
      rounds = 0;
      seen.hung_in = words[1];
      return seen;
    }
    tell_found("error",
               fmt::format("{} rounds of {} {}: {}", rounds, c.method,
                           with_barrier ? "with the barrier" : "without",
                           status == cudaErrorNotReady ? "no end after 5.5 s" : cudaGetErrorString(status)));
    end_process();
  }
  unsigned long long found[2] = {};
  std::vector<long long> both(64);
  cuda::check(cudaMemcpy(found, first, sizeof found, cudaMemcpyDeviceToHost), "reading what lanes saw");
  cuda::check(cudaMemcpy(both.data(), stamps, 64 * sizeof(long long), cudaMemcpyDeviceToHost),
              "reading stamps of lanes");
  seen.violations = found[0];
  seen.wrong = found[1];
  const auto earliest = *std::min_element(both.begin(), both.begin() + 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    seen.begin.push_back(static_cast<double>(both[lane] - earliest));
    seen.end.push_back(static_cast<double>(both[32 + lane] - earliest));
  }
  return seen;
}

}  // namespace

void run_lane_rounds(const blocking_case& c) {
  if (kernel_of_lane_rounds(c.method, true) == nullptr)
    waive(fmt::format("this build has no rounds of {}", c.method));
  say_what_it_ran_with(c, toolkit_here(), architecture_of(kernel_of_lane_rounds(c.method, true)));
  holding h;
  h.unit = "cycles";
  const auto control = carry_out_rounds(c, false, h.control_rounds),
             held = carry_out_rounds(c, true, h.rounds);  // this may hang
  h.violations = held.violations;
  h.wrong_data = held.wrong;
  h.control_violations = control.violations;
  h.hung_in = held.hung_in;
  h.begin = held.begin;
  h.end = held.end;
  h.control_begin = control.begin;
  h.control_end = control.end;
  tell({.participants = std::vector<participant>(32), .ended_by = "itself", .held = h});
  end_process();
}

}  // namespace mgsync::blocking
