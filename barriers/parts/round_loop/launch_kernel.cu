#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/launch_rounds.hpp"

namespace mgsync::round_loop {

namespace {

// The number of the object's rounds before this run is read from memory, at run.arrived, so that a graph of
// these kernels can be replayed in every run.
__global__ void __launch_bounds__(most_threads, resident_at_most_threads)
    launch_round(const __grid_constant__ device_run run, std::uint32_t round, std::uint32_t first_phase,
                 std::uint32_t checked) {
  if (run.work_ns != 0) hold_ns(run.work_ns);
  if (checked == 0) return;
  const unsigned self = run.member * run.blocks + blockIdx.x;
  const std::uint32_t in_life = *run.arrived + round;
  const std::uint32_t phase = first_phase + in_life;
  const bool alone = run.members * run.blocks == 1;
  unsigned observations = 0, violations = 0;
  const block_team team;
  const bool faulty = is_faulty(run, fault_early, team);
  __shared__ kept_turns turns;
  if (threadIdx.x == 0) find_turn(run, self, in_life, turns);
  if (threadIdx.x == blockDim.x - 1 && round > 0) find_turn(run, self, in_life - 1, turns);
  __syncthreads();
  const round_reads before{phase - 1, in_life - 1, turns[in_life - 1]}, now{phase, in_life, turns[in_life]};
  if (!alone) read_others(run, team, self, round > 0 ? &before : nullptr, now, observations, violations);
  // The positive control publishes one kernel too late.
  if (round > 0 && faulty && arrives_early(in_life - 1)) publish(run, team, self, phase - 1);
  skew_arrival(run, team, self, in_life, alone || turns[in_life].late == self, turns);
  if (!(faulty && arrives_early(in_life))) publish(run, team, self, phase);
  if (run.fences != 0) __threadfence_system();
  add_up(run, observations, violations);
  tell_shape(run);
}

}  // namespace

const void* launch_kernel() { return reinterpret_cast<const void*>(launch_round); }

}  // namespace mgsync::round_loop
