// The kernels of in-kernel barriers: timed and checked rounds, one source for all of them. C++17.
// Pass is what a backend gives: `using arguments`, trivially copyable; `Pass(const arguments&, const device_run&)`,
// built by every thread; `bool operator()(std::uint32_t epoch)`, called by every thread of every block, false: given
// up; and `static constexpr bool carries_sum`: then also `bool wrong_sum(epoch, expected&, seen&)` in every thread.
#pragma once

#include <cstdint>

#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync::round_loop {

// Registers are capped so that a whole SM of threads stays resident: 2048 on data-centre GPUs, fewer on others.
inline constexpr unsigned most_threads = 1024;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ / 100 != 10
inline constexpr unsigned resident_at_most_threads = 1;
#else
inline constexpr unsigned resident_at_most_threads = 2;
#endif

__device__ __forceinline__ void hold_ns(std::uint64_t how_long) {
  const std::uint64_t begin = algorithm::ptx::global_time_ns();
  while (algorithm::ptx::global_time_ns() - begin < how_long) {
  }
}

// Who is a worker of a barrier: as a rule a block. Its threads share what is published and read.
struct block_team {
  __device__ __forceinline__ unsigned worker() const { return blockIdx.x; }
  __device__ __forceinline__ unsigned lane() const { return threadIdx.x; }
  __device__ __forceinline__ unsigned lanes() const { return blockDim.x; }
  __device__ __forceinline__ void sync() const { __syncthreads(); }
};

template <class Team = block_team>
__device__ __forceinline__ bool is_faulty(const device_run& run, std::uint32_t fault, Team team = {}) {
  return run.fault == fault && run.fault_member == run.member && run.fault_block == team.worker();
}

// Ordinary accesses, that the compiler may neither drop nor make strong.
__device__ __forceinline__ std::uint32_t plain_load(const std::uint32_t* w) {
  std::uint32_t v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(w) : "memory");
  return v;
}
__device__ __forceinline__ void plain_store(std::uint32_t* w, std::uint32_t v) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(w), "r"(v) : "memory");
}

// The last epoch that was arrived at. Two loops, so that the one without work has nothing but the barrier in it.
template <bool Works, class Pass>
__device__ __forceinline__ std::uint32_t pass_rounds(Pass& pass, const device_run& run) {
  std::uint32_t epoch = run.epoch;
  const std::uint32_t last = run.epoch + run.rounds;
  bool ok = true;
  while (ok && epoch != last) {
    if constexpr (Works) hold_ns(run.work_ns);
    ok = pass(++epoch);
    if constexpr (!Pass::bounded)
      if ((epoch & 1023u) == 0 && blockIdx.x == 0 && threadIdx.x == 0)
        *static_cast<volatile std::uint32_t*>(run.heartbeat) = run.rounds_done + (epoch - run.epoch);
  }
  return epoch;
}

// What was launched, for the host to compare with what was asked for.
__device__ __forceinline__ void tell_shape(const device_run& run) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  run.findings->blocks = gridDim.x * gridDim.y * gridDim.z;
  run.findings->threads = blockDim.x * blockDim.y * blockDim.z;
}

template <class Pass>
__device__ __forceinline__ void run_timed(const device_run& run, const typename Pass::arguments& given) {
  Pass pass(given, run);
  const std::uint32_t epoch = run.work_ns == 0 ? pass_rounds<false>(pass, run) : pass_rounds<true>(pass, run);
  // No return before the end: what a pass does last may need all threads.
  if (threadIdx.x == 0) {
    run.arrived[blockIdx.x] = run.rounds_done + (epoch - run.epoch);
    std::uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    run.sms[blockIdx.x] = sm;
  }
  tell_shape(run);
}

__device__ inline void note(const device_run& run, std::uint32_t round, unsigned reader, unsigned offender,
                            std::uint32_t expected, std::uint32_t seen, std::uint32_t what) {
  if (atomicCAS(&run.findings->first_claimed, 0u, 1u) != 0) return;
  run.findings->round = round;
  run.findings->reader = reader;
  run.findings->offender = offender;
  run.findings->expected = expected;
  run.findings->seen = seen;
  run.findings->what = what;
}

template <class Team = block_team>
__device__ inline void publish(const device_run& run, unsigned self, std::uint32_t phase, Team team = {}) {
  if (team.lane() == team.lanes() - 1) plain_store(run.board.phase(phase, self), phase);
  std::uint32_t* const payload = run.board.payload(phase, self);
  const unsigned holder = run.board.holder_of(self, run.members, phase);
  std::uint32_t* const pushed = run.members > 1 && run.board.parts[holder] != nullptr ? run.board.pushed(phase, holder, self) : nullptr;
  for (unsigned w = team.lane(); w < payload_lines * words_per_line; w += team.lanes()) {
    plain_store(payload + w, payload_word(phase, self, w));
    if (pushed != nullptr) plain_store(pushed + w, payload_word(phase, self, w));
  }
}

// Where to read what `other` wrote: in its own memory, or where it pushed it to, in turn. Nothing: it cannot be reached.
__device__ inline const std::uint32_t* written_by(const device_run& run, unsigned other, std::uint32_t phase, bool pushed) {
  const unsigned holder = run.board.holder_of(other, run.members, phase);
  // Both ways must be open: what another host's member pushes does not arrive here.
  if (!run.board.has(other) || (pushed && (run.members == 1 || run.board.parts[holder] == nullptr))) return nullptr;
  return pushed ? run.board.pushed(phase, holder, other) : run.board.payload(phase, other);
}

// What will be read after the barrier, read before it too: so a line left in the L1 cache shows. Here and below, `round`
// is counted over the life of the barrier object.
template <class Team = block_team>
__device__ inline void touch(const device_run& run, unsigned self, std::uint32_t phase, std::uint32_t round, Team team = {}) {
  const unsigned workers = run.members * run.blocks;
  const unsigned count = read_count(workers);
  std::uint32_t nothing = 0;
  for (unsigned i = team.lane(); i < count; i += team.lanes())
    if (const unsigned other = read_target(run.seed, self, workers, round, i); run.board.has(other))
      nothing += plain_load(run.board.phase(phase, other));
  for (const bool pushed : {false, true})
    if (const auto* const payload = written_by(run, payload_target(self, workers, round), phase, pushed); payload != nullptr)
      for (unsigned w = team.lane(); w < payload_lines * words_per_line; w += team.lanes()) nothing += plain_load(payload + w);
  asm volatile("" ::"r"(nothing));
}

// What this thread saw of one other's payload: where that lies, or where it was pushed to.
template <class Team>
__device__ inline void read_payload(const device_run& run, unsigned self, std::uint32_t phase, std::uint32_t round, bool pushed,
                                    unsigned& observations, unsigned& violations, Team team) {
  constexpr unsigned at_once = 4, words = payload_lines * words_per_line;
  const unsigned other = payload_target(self, run.members * run.blocks, round);
  const std::uint32_t* const payload = written_by(run, other, phase, pushed);
  if (payload == nullptr) return;
  for (unsigned first = team.lane(); first < words; first += at_once * team.lanes()) {
    std::uint32_t seen[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (const unsigned w = first + k * team.lanes(); w < words) seen[k] = plain_load(payload + w);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const unsigned w = first + k * team.lanes();
      if (w >= words) continue;
      ++observations;
      const std::uint32_t expected = payload_word(phase, other, w);
      if (seen[k] != expected && violations++ == 0) note(run, round - run.rounds_done, self, other, expected, seen[k], 1);
    }
  }
}

// What this thread saw of others in the round just passed. Several loads are on their way at once: one after the other,
// each across a link, they would take longer than all else in a checked round.
template <class Team = block_team>
__device__ inline void read_others(const device_run& run, unsigned self, std::uint32_t phase, std::uint32_t round,
                                   unsigned& observations, unsigned& violations, Team team = {}) {
  constexpr unsigned at_once = 4;
  const unsigned workers = run.members * run.blocks;
  const unsigned count = read_count(workers);
  for (unsigned first = team.lane(); first < count; first += at_once * team.lanes()) {
    std::uint32_t seen[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      seen[k] = phase;
      const unsigned i = first + k * team.lanes();
      if (i >= count) continue;
      const unsigned other = read_target(run.seed, self, workers, round, i);
      if (!run.board.has(other)) continue;
      seen[k] = plain_load(run.board.phase(phase, other));
      ++observations;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (seen[k] != phase && violations++ == 0)
        note(run, round - run.rounds_done, self, read_target(run.seed, self, workers, round, first + k * team.lanes()), phase, seen[k], 0);
  }
  for (const bool pushed : {false, true}) read_payload(run, self, phase, round, pushed, observations, violations, team);
}

// Adds what the threads of this block found; one addition for all of them, since kernels of one round come here often.
__device__ inline void add_up(const device_run& run, unsigned observations, unsigned violations) {
  __shared__ unsigned sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  if (observations != 0) atomicAdd(&sums[0], observations);
  if (violations != 0) atomicAdd(&sums[1], violations);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (sums[0] != 0) atomicAdd(&run.findings->observations, static_cast<unsigned long long>(sums[0]));
  if (sums[1] != 0) atomicAdd(&run.findings->violations, static_cast<unsigned long long>(sums[1]));
}

// Skews this worker's arrival, and holds the late worker's back long enough to be noticed.
template <class Team = block_team>
__device__ inline void skew_arrival(const device_run& run, unsigned self, std::uint32_t round, Team team = {}) {
  if (team.lane() == 0) {
    if (late_worker(run.seed, round, run.members * run.blocks) == self) hold_ns(hold_ns_of(round));
    hold_ns(skew_unit_ns * skew(run.seed, round, self));
  }
  team.sync();
}

// docs/method.md, "Is it a barrier?"
template <class Pass>
__device__ __forceinline__ void run_checked(const device_run& run, const typename Pass::arguments& given,
                                            std::uint32_t first_phase) {
  Pass pass(given, run);
  const unsigned self = run.member * run.blocks + blockIdx.x;
  const bool alone = run.members * run.blocks == 1;
  unsigned observations = 0, violations = 0;
  std::uint32_t round = 0;
  for (; round < run.rounds; ++round) {
    const std::uint32_t in_life = run.rounds_done + round;
    const std::uint32_t phase = first_phase + in_life;
    const bool early = is_faulty(run, fault_early) && arrives_early(in_life);
    skew_arrival(run, self, in_life);
    if (is_faulty(run, fault_never) && round == run.fault_round) break;
    if (!alone) touch(run, self, phase, in_life);
    if (!early) publish(run, self, phase);
    if (threadIdx.x == 0) {
      run.arrived[blockIdx.x] = in_life + 1;
      if (blockIdx.x == 0) *static_cast<volatile std::uint32_t*>(run.heartbeat) = in_life + 1;
    }
    if (!pass(run.epoch + round + 1)) break;
    if constexpr (Pass::carries_sum) {
      std::uint32_t expected = 0, seen = 0;
      ++observations;
      if (pass.wrong_sum(run.epoch + round + 1, expected, seen) && violations++ == 0)
        note(run, round, self, self, expected, seen, 2);
    }
    if (early) {
      if (threadIdx.x == 0) hold_ns(long_hold_ns);
      __syncthreads();
      publish(run, self, phase);
    } else if (!alone) {
      read_others(run, self, phase, in_life, observations, violations);
    }
  }
  add_up(run, observations, violations);
  tell_shape(run);
}

template <class Pass>
__global__ void __launch_bounds__(most_threads, resident_at_most_threads)
    timed_rounds(const __grid_constant__ device_run run, const __grid_constant__ typename Pass::arguments given) {
  run_timed<Pass>(run, given);
}

// As run_timed(), every block stamping when it comes to a round and when it leaves it.
template <class Pass>
__device__ __forceinline__ void run_recorded(const device_run& run, const typename Pass::arguments& given, block_events* recorded) {
  __shared__ event_buffer<1, 2 * most_recorded_rounds, true> buffer;
  event_recorder recorder(buffer);
  Pass pass(given, run);
  const bool early = is_faulty(run, fault_early);
  bool ok = true;
  std::uint32_t round = 0;
#pragma unroll 1
  for (; ok && round != run.rounds; ++round) {
    if (run.work_ns != 0) hold_ns(run.work_ns);
    if (!early) recorder.stamp(2 * round);
    ok = pass(run.epoch + round + 1);
    if (early) {
      hold_ns(long_hold_ns);
      recorder.stamp(2 * round);
    }
    recorder.stamp(2 * round + 1);
    if constexpr (!Pass::bounded)
      if ((round & 1023u) == 0 && blockIdx.x == 0 && threadIdx.x == 0)
        *static_cast<volatile std::uint32_t*>(run.heartbeat) = run.rounds_done + round;
  }
  recorder.flush(recorded);
  if (threadIdx.x == 0) run.arrived[blockIdx.x] = run.rounds_done + round;
  tell_shape(run);
}

template <class Pass>
__global__ void __launch_bounds__(most_threads, resident_at_most_threads)
    recorded_rounds(const __grid_constant__ device_run run, const __grid_constant__ typename Pass::arguments given, block_events* recorded) {
  run_recorded<Pass>(run, given, recorded);
}

template <class Pass>
__global__ void __launch_bounds__(most_threads, resident_at_most_threads)
    checked_rounds(const __grid_constant__ device_run run, const __grid_constant__ typename Pass::arguments given,
                   std::uint32_t first_phase) {
  run_checked<Pass>(run, given, first_phase);
}

}  // namespace mgsync::round_loop
