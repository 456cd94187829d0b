#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/launch_rounds.hpp"

namespace mgsync::round_loop {

namespace {

// Rounds of the object's life before this run are read from memory, where run.arrived points to: a graph of these kernels can be
// replayed in every run.
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
  const bool faulty = is_faulty(run, fault_early);
  if (round > 0) {
    const reading& before = turn_of(run, self, in_life - 1);
    if (!alone) read_others(run, self, phase - 1, in_life - 1, before, observations, violations);
    // The positive control publishes one kernel too late.
    if (faulty && arrives_early(in_life - 1)) publish(run, self, phase - 1);
  }
  const reading& turn = turn_of(run, self, in_life);
  if (!alone) touch(run, self, phase, turn);
  skew_arrival(run, self, in_life, alone || turn.late == self);
  if (!(faulty && arrives_early(in_life))) publish(run, self, phase);
  add_up(run, observations, violations);
  tell_shape(run);
}

}  // namespace

const void* launch_kernel() { return reinterpret_cast<const void*>(launch_round); }

}  // namespace mgsync::round_loop
