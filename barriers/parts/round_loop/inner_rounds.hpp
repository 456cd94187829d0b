// The kernels of barriers inside one block: a worker is a lane of its only warp, or a warp. What the host
// knows as `blocks` of `threads` each is one block here, of workers with so many lanes. Pass is as in
// device_rounds.hpp; it carries no sum. C++17.
#pragma once

#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync::round_loop {

template <unsigned Lanes>
struct inner_team {
  static_assert(Lanes == 1 || Lanes == 32, "a lane or a warp");
  __device__ __forceinline__ unsigned worker() const { return threadIdx.x / Lanes; }
  __device__ __forceinline__ unsigned lane() const { return threadIdx.x % Lanes; }
  // Joins a worker's own threads only; the barrier under test brings it together with the others.
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
    timed_inner_rounds(const __grid_constant__ device_run run,
                       const __grid_constant__ typename Pass::arguments given) {
  Pass pass(given, run);
  const std::uint32_t epoch = run.work_ns == 0 ? pass_rounds<false>(pass, run) : pass_rounds<true>(pass, run);
  const inner_team<Lanes> team;
  if (team.lane() == 0) run.arrived[team.worker()] = run.rounds_done + (epoch - run.epoch);
  tell_inner_shape<Lanes>(run);
}

inline constexpr unsigned inner_payload_words = payload_lines * words_per_line;

template <unsigned Lanes>
__device__ __forceinline__ void publish_inner(const device_run& run, std::uint32_t phase) {
  const inner_team<Lanes> team;
  if (team.lane() == 0) plain_store(run.board.phase(phase, team.worker()), phase);
  std::uint32_t* const payload = run.board.payload(phase, team.worker());
  for (unsigned w = team.lane(); w < inner_payload_words; w += Lanes)
    plain_store(payload + w, payload_word(phase, team.worker(), w));
}

// Reads the phases of all other workers and the payload of one; calls `see(what, offender, expected, seen)`
// for every word.
template <unsigned Lanes, class See>
__device__ __forceinline__ void read_inner(const device_run& run, std::uint32_t phase, std::uint32_t in_life,
                                           See see) {
  const inner_team<Lanes> team;
  const unsigned self = team.worker();
  for (unsigned other = team.lane(); other < run.blocks; other += Lanes)
    if (other != self) see(0u, other, phase, plain_load(run.board.phase(phase, other)));
  const unsigned of = payload_target(self, run.blocks, in_life);
  const std::uint32_t* const payload = run.board.payload(phase, of);
  for (unsigned w = team.lane(); w < inner_payload_words; w += Lanes)
    see(1u, of, payload_word(phase, of, w), plain_load(payload + w));
}

// One checked round. The late worker runs an instance of its own, barrier and reads included: lanes that have
// diverged reconverge where their paths join, and would wait for each other there even if no barrier held
// them.
template <bool Late, class Pass, unsigned Lanes>
__device__ __noinline__ void checked_inner_round(Pass& pass, const device_run& run, std::uint32_t round,
                                                 std::uint32_t phase, bool early, unsigned& observations,
                                                 unsigned& violations) {
  const inner_team<Lanes> team;
  const std::uint32_t in_life = run.rounds_done + round;
  if (Late && team.lane() == 0) hold_ns(hold_ns_of(in_life));
  team.sync();
  std::uint32_t nothing = 0;
  read_inner<Lanes>(run, phase, in_life,
                    [&](unsigned, unsigned, std::uint32_t, std::uint32_t seen) { nothing += seen; });
  asm volatile("" ::"r"(nothing));
  if (!early) publish_inner<Lanes>(run, phase);
  if (team.lane() == 0) {
    run.arrived[team.worker()] = in_life + 1;
    if (team.worker() == 0) *static_cast<volatile std::uint32_t*>(run.heartbeat) = in_life + 1;
  }
  team.sync();  // a block's barrier instructions need whole warps
  pass(run.epoch + round + 1);
  if (early) return;
  read_inner<Lanes>(run, phase, in_life,
                    [&](unsigned what, unsigned offender, std::uint32_t expected, std::uint32_t seen) {
                      ++observations;
                      if (seen != expected && violations++ == 0)
                        note(run, round, team.worker(), offender, expected, seen, what);
                    });
}

// docs/method.md, "Is it a barrier?": as checked_rounds, with workers of one block.
template <class Pass, unsigned Lanes>
__global__ void __launch_bounds__(most_threads)
    checked_inner_rounds(const __grid_constant__ device_run run,
                         const __grid_constant__ typename Pass::arguments given, std::uint32_t first_phase) {
  Pass pass(given, run);
  const inner_team<Lanes> team;
  const bool alone = run.blocks == 1, faulty = run.fault != no_fault && run.fault_block == team.worker();
  unsigned observations = 0, violations = 0;
#pragma unroll 1
  for (std::uint32_t round = 0; round < run.rounds && !alone; ++round) {
    const std::uint32_t in_life = run.rounds_done + round, phase = first_phase + in_life;
    const bool early = faulty && run.fault == fault_early && arrives_early(in_life);
    if (faulty && run.fault == fault_never && round == run.fault_round) break;
    if (late_worker(run.seed, in_life, run.blocks) == team.worker())
      checked_inner_round<true, Pass, Lanes>(pass, run, round, phase, early, observations, violations);
    else checked_inner_round<false, Pass, Lanes>(pass, run, round, phase, early, observations, violations);
    if (run.fault != fault_early) continue;
    // Diverged lanes run one branch after another, so whoever arrived early publishes only after the others
    // have read.
    if constexpr (Lanes == 1) __syncwarp();
    else if (early && team.lane() == 0) hold_ns(long_hold_ns);
    team.sync();
    if (early) publish_inner<Lanes>(run, phase);
  }
  if (observations != 0)
    atomicAdd(&run.findings->observations, static_cast<unsigned long long>(observations));
  if (violations != 0) atomicAdd(&run.findings->violations, static_cast<unsigned long long>(violations));
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
