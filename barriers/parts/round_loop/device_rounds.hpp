// The kernels of in-kernel barriers: timed and checked rounds, one source for all of them. C++17.
// Pass is what a backend gives: `using arguments`, trivially copyable; `Pass(const arguments&, const
// device_run&)`, built by every thread; `bool operator()(std::uint32_t epoch)`, called by every thread of
// every block, false: given up; and `static constexpr bool carries_sum`: then also `bool wrong_sum(epoch,
// expected&, seen&)` in every thread. A barrier whose wait can hide work also has `template <class Work> bool
// operator()(std::uint32_t epoch, Work)`, which calls Work() in the threads that do it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/round_loop/device_check.hpp"
#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync::round_loop {

// Registers are capped so that a whole SM of threads stays resident: 2048 on data-centre GPUs, fewer on
// others.
inline constexpr unsigned most_threads = 1024;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 &&        \
    __CUDA_ARCH__ / 100 != 10
inline constexpr unsigned resident_at_most_threads = 1;
#else
inline constexpr unsigned resident_at_most_threads = 2;
#endif

// Work between rounds, by the first warp of the block only, since every barrier begins with one of the block.
// If all warps of a full GPU read the global timer together, some of them wait 10 us for the answer.
__device__ __forceinline__ void work_ns(std::uint64_t how_long) {
  if (threadIdx.x < 32) hold_ns(how_long);
}

template <class Pass, class Work, class = void>
struct hides_work : std::false_type {};
template <class Pass, class Work>
struct hides_work<Pass, Work,
                  std::void_t<decltype(std::declval<Pass&>()(std::uint32_t{}, std::declval<Work>()))>>
    : std::true_type {};

// A timed round with its work, done before the barrier or while it waits.
template <class Pass>
__device__ __forceinline__ bool pass_working(Pass& pass, const device_run& run, std::uint32_t epoch) {
  const auto work = [&run] { hold_ns(run.work_ns - run.late_ns); };
  if constexpr (hides_work<Pass, decltype(work)>::value) {
    if (run.late_ns != 0) work_ns(run.late_ns);
    return pass(epoch, work);
  } else {
    work_ns(run.work_ns);
    return pass(epoch);
  }
}

// Returns the last epoch that was arrived at. There are two instances, so that the loop without work has
// nothing but the barrier in it. A barrier whose waits are not bounded tells its progress between stretches
// of rounds: even a test for it in every round would add to the measured value (for NCCL's barrier of one
// block 0.08 us).
template <bool Works, class Pass>
__device__ __forceinline__ std::uint32_t pass_rounds(Pass& pass, const device_run& run) {
  constexpr std::uint32_t stretch = 1024;
  std::uint32_t epoch = run.epoch;
  const std::uint32_t last = run.epoch + run.rounds;
  bool ok = true;
  while (ok && epoch != last) {
    std::uint32_t until = last;
    if constexpr (!Pass::bounded) until = epoch + (last - epoch < stretch ? last - epoch : stretch);
#pragma unroll 1
    while (ok && epoch != until) {
      if constexpr (Works) ok = pass_working(pass, run, ++epoch);
      else ok = pass(++epoch);
    }
    if constexpr (!Pass::bounded)
      if (blockIdx.x == 0 && threadIdx.x == 0)
        *static_cast<volatile std::uint32_t*>(run.heartbeat) = run.rounds_done + (epoch - run.epoch);
  }
  return epoch;
}

// When a block spoke for its GPU in a recorded run, at index epoch % most_recorded_rounds.
struct speech {
  std::uint64_t clock[most_recorded_rounds];
  std::uint32_t epoch[most_recorded_rounds];
};
__device__ __forceinline__ speech& heard_speech() {
  __shared__ speech heard;
  return heard;
}

// Stores the shape that was launched, for the host to compare with what it asked for.
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

// docs/method.md, "Is it a barrier?"
template <class Team, class Pass>
__device__ __forceinline__ void run_checked(const device_run& run, const typename Pass::arguments& given,
                                            std::uint32_t first_phase) {
  Pass pass(given, run);
  const Team team;
  const unsigned self = run.member * run.blocks + team.worker();
  const bool alone = run.members * run.blocks == 1;
  unsigned observations = 0, violations = 0;
  __shared__ kept_turns of_workers[Team::most_workers];
  kept_turns& turns = of_workers[Team::is_block ? 0 : team.worker()];
  const auto reads_of = [&](std::uint32_t in_life) {
    return round_reads{first_phase + in_life, in_life, turns[in_life]};
  };
  if (team.lane() == 0) find_turn(run, self, run.rounds_done, turns);
  team.sync();
  if (!alone) read_others(run, team, self, nullptr, reads_of(run.rounds_done), observations, violations);
  for (std::uint32_t round = 0; round < run.rounds; ++round) {
    const std::uint32_t in_life = run.rounds_done + round;
    const std::uint32_t phase = first_phase + in_life;
    const bool early = is_faulty(run, fault_early, team) && arrives_early(in_life);
    const bool late = alone || turns[in_life].late == self;
    const auto passes = [&] {
      skew_arrival(run, team, self, in_life, late, turns);
      if (is_faulty(run, fault_never, team) && round == run.fault_round) return false;
      if (!early) publish(run, team, self, phase);
      if (team.lane() == 0) {
        run.arrived[team.worker()] = in_life + 1;
        // The next system fence waits until this store has reached the host. So where waits give up by
        // themselves and tell who is missing, it is not done in every round.
        if (team.worker() == 0 && (!Pass::bounded || in_life % 32 == 0))
          *static_cast<volatile std::uint32_t*>(run.heartbeat) = in_life + 1;
      }
      if constexpr (!Team::is_block) team.sync();  // a block's barrier instructions need whole warps
      if (!pass(run.epoch + round + 1)) return false;
      if constexpr (Pass::carries_sum) {
        std::uint32_t expected = 0, seen = 0;
        ++observations;
        if (pass.wrong_sum(run.epoch + round + 1, expected, seen) && violations++ == 0)
          note(run, round, self, self, expected, seen, 2);
      }
      if (early && !Team::is_lane) {
        if (team.lane() == 0) hold_ns(long_hold_ns);
        team.sync();
        publish(run, team, self, phase);
      }
      if (alone) return true;
      const round_reads passed = reads_of(in_life);
      read_others(run, team, self, early ? nullptr : &passed, reads_of(in_life + 1), observations,
                  violations);
      return true;
    };
    if (!Team::run_round(late, passes)) break;
    // Diverged lanes run one branch after another: the lane that came early publishes once the others have
    // read.
    if constexpr (Team::is_lane)
      if (run.fault == fault_early) {
        __syncwarp();
        if (early) publish(run, team, self, phase);
      }
  }
  add_up(run, observations, violations);
}

template <class Pass>
__global__ void __launch_bounds__(most_threads, resident_at_most_threads)
    timed_rounds(const __grid_constant__ device_run run,
                 const __grid_constant__ typename Pass::arguments given) {
  run_timed<Pass>(run, given);
}

// Base of a Pass that calls cooperative_groups' grid.sync on either side of something. Its timed rounds are a
// kernel without launch bounds, as a user's kernel with such a barrier has none: with bounds, ptxas reads the
// block's index anew in each grid.sync although there are registers enough, which costs 0.05 us. (grid.sync
// alone is no faster without bounds, and with one block slower.)
struct has_grid_sync {};
// Base of a Pass whose code needs more registers than a full SM leaves a thread. With bounds the rest is kept
// in memory, and the pass's fences wait for that; a user's kernel of this size has them in registers.
struct takes_registers {};
template <class Pass>
__global__ void timed_rounds_without_bounds(const __grid_constant__ device_run run,
                                            const __grid_constant__ typename Pass::arguments given) {
  run_timed<Pass>(run, given);
}

__device__ __forceinline__ clock_reading read_clocks() {
  clock_reading now;
  asm volatile("mov.u64 %0, %%clock64;\n mov.u64 %1, %%globaltimer;"
               : "=l"(now.clock), "=l"(now.timer_ns)::"memory");
  return now;
}

// Time stamps of the last 32 rounds, one in a register of each lane of a warp. A store in every round would
// have to be waited for by the fence after it, which takes longer than the rest of a stamp; so every 32
// rounds all stamps go to shared memory together.
class held_moments {
 public:
  // Reads the clock once `verdict` (0 or 1) is known: without this dependence the read would not wait for the
  // barrier before it.
  __device__ __forceinline__ void stamp(std::uint32_t round, bool verdict = true) {
    std::uint64_t now;
    asm volatile("{\n .reg .pred there;\n setp.ne.u32 there, %1, 2;\n mov.u64 %0, 0;\n @there mov.u64 %0, "
                 "%%clock64;\n}"
                 : "=l"(now)
                 : "r"(static_cast<std::uint32_t>(verdict))
                 : "memory");
    if (round % 32 == threadIdx.x % 32) mine_ = now;
  }
  // Writes the stamps of `rounds` rounds, at most 32, from `first` on.
  __device__ __forceinline__ void store(std::uint64_t (&ring)[recorded_ring], std::uint32_t first,
                                        std::uint32_t rounds) const {
    if (threadIdx.x < rounds) ring[(first + threadIdx.x) % recorded_ring] = mine_;
  }

 private:
  std::uint64_t mine_ = 0;
};

struct recorded_stretch {
  std::uint32_t first, rounds;  // of the run; at most 32, from a multiple of 32 on
  bool early;                   // reads its clock after it went through, on purpose
};

// Returns how many rounds were passed. Nothing but the barrier and the stamps stands between two rounds, as
// in pass_rounds().
template <bool Works, class Pass>
__device__ __forceinline__ std::uint32_t record_stretch(Pass& pass, const device_run& run,
                                                        const recorded_stretch& s, held_moments& coming,
                                                        held_moments& leaving) {
  std::uint32_t i = 0;
  bool ok = true;
#pragma unroll 1
  for (; ok && i != s.rounds; ++i) {
    if constexpr (Works) {
      if (run.work_ns != 0) work_ns(run.work_ns);
      if (!s.early) coming.stamp(i);
    }
    ok = pass(run.epoch + s.first + i + 1);
    if constexpr (Works)
      if (s.early) {
        hold_ns(long_hold_ns);
        coming.stamp(i);
      }
    leaving.stamp(i, ok);
  }
  return i;
}

// Like run_timed(), but the first warp of every block stamps when it comes to a round and when it leaves it.
// A Pass of recorded_pass.hpp also notes in heard_speech() when its block speaks.
template <class Pass>
__device__ __forceinline__ void run_recorded(const device_run& run, const typename Pass::arguments& given,
                                             block_events* recorded) {
  __shared__ std::uint64_t came[recorded_ring], left[recorded_ring];
  __shared__ clock_reading readings[3];
  speech& heard = heard_speech();
  if (threadIdx.x < 3) readings[threadIdx.x] = {};
  for (unsigned i = threadIdx.x; i < most_recorded_rounds; i += blockDim.x)
    heard.epoch[i] = run.epoch;  // of no round of this run
  Pass pass(given, run);
  __syncthreads();
  const std::uint64_t began = read_clocks().clock;
  const bool early = is_faulty(run, fault_early, block_team{}), works = run.work_ns != 0 || early;
  std::uint32_t round = 0;
  for (bool ok = true; ok && round != run.rounds;) {
    if (threadIdx.x == 0 && round % most_recorded_rounds == 0)
      readings[round / most_recorded_rounds % 2] = read_clocks();
    const recorded_stretch stretch{round, run.rounds - round < 32 ? run.rounds - round : 32, early};
    held_moments coming, leaving;
    const std::uint32_t passed = works ? record_stretch<true>(pass, run, stretch, coming, leaving)
                                       : record_stretch<false>(pass, run, stretch, coming, leaving);
    coming.store(came, round, passed);
    leaving.store(left, round, passed);
    round += passed;
    ok = passed == stretch.rounds;
    if constexpr (!Pass::bounded)
      if (blockIdx.x == 0 && threadIdx.x == 0)
        *static_cast<volatile std::uint32_t*>(run.heartbeat) = run.rounds_done + round;
  }
  if (threadIdx.x == 0) readings[2] = read_clocks();
  __syncthreads();
  block_events& mine = recorded[blockIdx.x];
  for (unsigned i = threadIdx.x; i < recorded_ring; i += blockDim.x) {
    mine.came[i] = came[i];
    mine.left[i] = left[i];
  }
  for (unsigned i = threadIdx.x; i < most_recorded_rounds; i += blockDim.x) {
    mine.spoke[i] = heard.clock[i];
    mine.spoke_round[i] = heard.epoch[i] - run.epoch - 1;
  }
  if (threadIdx.x < 3) mine.readings[threadIdx.x] = readings[threadIdx.x];
  if (threadIdx.x == 0) {
    mine.began = began;
    mine.block = blockIdx.x;
    mine.stamps_coming = works ? 1 : 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(mine.sm));
    run.arrived[blockIdx.x] = run.rounds_done + round;
  }
  tell_shape(run);
}

template <class Pass>
__global__ void __launch_bounds__(most_threads, resident_at_most_threads)
    recorded_rounds(const __grid_constant__ device_run run,
                    const __grid_constant__ typename Pass::arguments given, block_events* recorded) {
  run_recorded<Pass>(run, given, recorded);
}

template <class Pass>
__global__ void __launch_bounds__(most_threads, resident_at_most_threads)
    checked_rounds(const __grid_constant__ device_run run,
                   const __grid_constant__ typename Pass::arguments given, std::uint32_t first_phase) {
  run_checked<block_team, Pass>(run, given, first_phase);
  tell_shape(run);
}

}  // namespace mgsync::round_loop
