// The kernels of barriers inside one block: a worker is a lane of its only warp, or a warp. What the host
// knows as `blocks` of `threads` each is one block here, of workers with so many lanes. Pass is as in
// device_rounds.hpp. C++17.
#pragma once

#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync::round_loop {

// Runs the round in an instance of its own.
template <bool Late, class Round>
__device__ __noinline__ bool run_apart(const Round& round) {
  return round();
}

template <unsigned Lanes>
struct inner_team {
  static_assert(Lanes == 1 || Lanes == 32, "a lane or a warp");
  static constexpr bool is_block = false, is_lane = Lanes == 1;
  static constexpr unsigned most_workers = 32;
  __device__ __forceinline__ unsigned worker() const { return threadIdx.x / Lanes; }
  __device__ __forceinline__ unsigned lane() const { return threadIdx.x % Lanes; }
  __device__ __forceinline__ unsigned lanes() const { return Lanes; }
  // The barrier under test brings a worker together with the others.
  __device__ __forceinline__ void sync() const {
    if constexpr (Lanes > 1) __syncwarp();
  }
  // The late worker runs an instance of its own, barrier and reads included: lanes that have diverged
  // reconverge where their paths join, and would wait for each other there even if no barrier held them.
  template <class Round>
  __device__ __forceinline__ static bool run_round(bool late, const Round& round) {
    return late ? run_apart<true>(round) : run_apart<false>(round);
  }
};

template <unsigned Lanes>
__device__ __forceinline__ void tell_inner_shape(const device_run& run) {
  if (threadIdx.x != 0) return;
  run.findings->blocks = gridDim.x * blockDim.x / Lanes;
  run.findings->threads = Lanes;
}

template <class Pass, unsigned Lanes>
__global__ void __launch_bounds__(most_threads)
    timed_inner_rounds(const __grid_constant__ device_run run,
                       const __grid_constant__ typename Pass::arguments given) {
  Pass pass(given, run);
  const std::uint32_t epoch = run.work_ns == 0 ? pass_rounds<false>(pass, run) : pass_rounds<true>(pass, run);
  const inner_team<Lanes> team;
  if (team.lane() == 0) run.arrived[team.worker()] = run.rounds_done + (epoch - run.epoch);
  tell_inner_shape<Lanes>(run);
}

template <class Pass, unsigned Lanes>
__global__ void __launch_bounds__(most_threads)
    checked_inner_rounds(const __grid_constant__ device_run run,
                         const __grid_constant__ typename Pass::arguments given, std::uint32_t first_phase) {
  run_checked<inner_team<Lanes>, Pass>(run, given, first_phase);
  tell_inner_shape<Lanes>(run);
}

// The barrier of one block of `w.threads` threads whose workers have `Lanes` lanes each. Pass's arguments are
// default-constructed. Collective over the session's ranks.
template <class Pass, unsigned Lanes>
creation make_inner_barrier(const flag_barrier_request& w, std::string chosen) {
  const gpu_team::round_kernels kernels{reinterpret_cast<const void*>(timed_inner_rounds<Pass, Lanes>),
                                        reinterpret_cast<const void*>(checked_inner_rounds<Pass, Lanes>)};
  if (auto reason = why_no_room(w, kernels); !reason.empty()) return {nullptr, reason, {}, {}};
  kernel_barrier_parts parts;
  parts.what = w.backend + " (" + chosen.substr(0, chosen.find(':')) + ")";
  parts.algorithm = std::move(chosen);
  parts.kernels = kernels;
  parts.bounded = Pass::bounded;
  parts.launch = [](unsigned, const void* kernel, unsigned workers, unsigned lanes, void** arguments,
                    cudaStream_t stream) {
    cuda::check(cudaLaunchKernel(kernel, dim3(1), dim3(workers * lanes), arguments, 0, stream),
                "launching one block");
  };
  for (std::size_t l = 0; l < w.gpus.size(); ++l)
    parts.arguments.push_back(bytes_of(typename Pass::arguments{}));
  flag_barrier_request workers{w.group, w.where,       w.backend, w.threads / Lanes, Lanes, w.sms,
                               w.load,  w.peer_memory, w.gpus};
  return make_kernel_barrier(workers, std::move(parts));
}

}  // namespace mgsync::round_loop
