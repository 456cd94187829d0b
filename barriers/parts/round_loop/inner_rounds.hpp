// The kernels of barriers inside one block: a worker is a lane of its only warp, or a warp. What the host knows as
// `blocks` of `threads` each is one block here, of workers with so many lanes. Pass is as in device_rounds.hpp; it carries
// no sum. C++17.
#pragma once

#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync::round_loop {

template <unsigned Lanes>
struct inner_team {
  static_assert(Lanes == 1 || Lanes == 32, "a lane or a warp");
  __device__ __forceinline__ unsigned worker() const { return threadIdx.x / Lanes; }
  __device__ __forceinline__ unsigned lane() const { return threadIdx.x % Lanes; }
  __device__ __forceinline__ unsigned lanes() const { return Lanes; }
  // A worker's own threads alone: its barrier under test brings it together with the others.
  __device__ __forceinline__ void sync() const {
    if constexpr (Lanes > 1) __syncwarp();
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
    timed_inner_rounds(const __grid_constant__ device_run run, const __grid_constant__ typename Pass::arguments given) {
  Pass pass(given, run);
  const std::uint32_t epoch = run.work_ns == 0 ? pass_rounds<false>(pass, run) : pass_rounds<true>(pass, run);
  const inner_team<Lanes> team;
  if (team.lane() == 0) run.arrived[team.worker()] = run.rounds_done + (epoch - run.epoch);
  tell_inner_shape<Lanes>(run);
}

// docs/method.md, "Is it a barrier?": as checked_rounds, with workers of one block.
template <class Pass, unsigned Lanes>
__global__ void __launch_bounds__(most_threads)
    checked_inner_rounds(const __grid_constant__ device_run run, const __grid_constant__ typename Pass::arguments given,
                         std::uint32_t first_phase) {
  Pass pass(given, run);
  const inner_team<Lanes> team;
  const unsigned self = team.worker();
  const bool alone = run.blocks == 1;
  unsigned observations = 0, violations = 0;
#pragma unroll 1
  for (std::uint32_t round = 0; round < run.rounds; ++round) {
    const std::uint32_t in_life = run.rounds_done + round;
    const std::uint32_t phase = first_phase + in_life;
    const bool early = is_faulty(run, fault_early, team) && arrives_early(in_life);
    skew_arrival(run, self, in_life, team);
    if (is_faulty(run, fault_never, team) && round == run.fault_round) break;
    if (!alone) touch(run, self, phase, in_life, team);
    if (!early) publish(run, self, phase, team);
    if (team.lane() == 0) {
      run.arrived[self] = in_life + 1;
      if (self == 0) *static_cast<volatile std::uint32_t*>(run.heartbeat) = in_life + 1;
    }
    team.sync();  // barriers of a block take whole warps
    pass(run.epoch + round + 1);
    if (early) {
      if (team.lane() == 0) hold_ns(long_hold_ns);
      team.sync();
      publish(run, self, phase, team);
    } else if (!alone) {
      read_others(run, self, phase, in_life, observations, violations, team);
    }
  }
  if (observations != 0) atomicAdd(&run.findings->observations, static_cast<unsigned long long>(observations));
  if (violations != 0) atomicAdd(&run.findings->violations, static_cast<unsigned long long>(violations));
  tell_inner_shape<Lanes>(run);
}

// The barrier of one block of `w.threads` threads in workers of so many lanes. Pass's arguments hold no state.
// Collective over the session's ranks.
template <class Pass, unsigned Lanes>
creation make_inner_barrier(const flag_barrier_request& w, std::string chosen) {
  const round_kernels kernels{reinterpret_cast<const void*>(timed_inner_rounds<Pass, Lanes>),
                              reinterpret_cast<const void*>(checked_inner_rounds<Pass, Lanes>)};
  if (auto reason = why_no_room(w, kernels); !reason.empty()) return {nullptr, reason, {}, {}};
  kernel_barrier_parts parts;
  parts.what = w.backend + " (" + chosen.substr(0, chosen.find(':')) + ")";
  parts.algorithm = std::move(chosen);
  parts.kernels = kernels;
  parts.bounded = Pass::bounded;
  parts.launch = [](unsigned, const void* kernel, unsigned workers, unsigned lanes, void** arguments, cudaStream_t stream) {
    cuda::check(cudaLaunchKernel(kernel, dim3(1), dim3(workers * lanes), arguments, 0, stream), "launching one block");
  };
  for (std::size_t l = 0; l < w.gpus.size(); ++l) parts.arguments.push_back(bytes_of(typename Pass::arguments{}));
  flag_barrier_request workers{w.group, w.where, w.backend, w.threads / Lanes, Lanes, w.sms, w.load, w.peer_memory, w.gpus};
  return make_kernel_barrier(workers, std::move(parts));
}

}  // namespace mgsync::round_loop
