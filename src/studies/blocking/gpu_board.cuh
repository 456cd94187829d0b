// Device code of the participants of a case on GPUs: lanes, warps, blocks and GPUs alike. A stamp is a ticket
// from a counter that all share, so that no common clock is needed. Stamps lie in host memory, which can be
// read after a trap.
#pragma once

#include <cstdint>

#include "barriers/parts/algorithm/ptx.hpp"
#include "src/studies/blocking/gpu_case_kernels.hpp"

namespace mgsync::blocking {

__device__ inline bool is_absent(const gpu_board& b, unsigned i) {
  if (b.how == away::nobody) return false;
  return b.who == chosen::first ? i == 0 : b.who == chosen::last ? i + 1 == b.participants : i % 2 == 1;
}

__device__ inline void rest() { __nanosleep(200); }

__device__ inline void put_stamp(const gpu_board& b, unsigned long long& into) {
  __threadfence_system();
  const auto ticket = atomicAdd_system(&b.counts->tickets, 1ull) + 1;
  *static_cast<volatile unsigned long long*>(&into) = ticket;
  __threadfence_system();
}

// Only for unsigned words: a value of another type would be converted to a temporary, which never changes.
template <class Word>
__device__ unsigned value_of(const Word&) = delete;
__device__ inline unsigned value_of(const unsigned& word) {
  return *static_cast<const volatile unsigned*>(&word);
}

// Waits until all absent, or all present, participants have the stamp that `field` selects. Unbounded here:
// the guard ends the kernel.
template <class Field>
__device__ void wait_for_all(const gpu_board& b, bool absentees, Field field) {
  for (unsigned i = 0; i < b.participants; ++i)
    if (is_absent(b, i) == absentees)
      while (*static_cast<volatile unsigned long long*>(&field(b.places[i])) == 0) rest();
}

__device__ inline void is_done(const gpu_board& b, bool speaks, bool present) {
  if (!speaks) return;
  __threadfence_system();
  if (present) atomicAdd_system(&b.counts->present_done, 1u);
  atomicAdd_system(&b.counts->all_done, 1u);
}

__device__ inline void end_thread() { asm volatile("exit;"); }

// Run by one thread that is no participant. Ends the kernel by a trap when the bound has passed. Once all
// present participants are done, it releases those that spin, so that a kernel whose barrier let them through
// ends normally.
__device__ inline void guard(const gpu_board& b) {
  const auto begin = algorithm::ptx::global_time_ns();
  unsigned absentees = 0;
  for (unsigned i = 0; i < b.participants; ++i) absentees += is_absent(b, i);
  for (;;) {
    if (value_of(b.counts->all_done) >= b.participants) return;
    if (value_of(b.counts->present_done) >= b.participants - absentees)
      atomicExch_system(&b.counts->release, 1u);
    if (algorithm::ptx::global_time_ns() - begin > b.bound_ns) __trap();
    rest();
  }
}

// What an absent participant does before the others arrive: it exits (exit_before), or stamps that it has
// begun something else.
__device__ inline void act_early(const gpu_board& b, unsigned me, bool speaks) {
  if (b.how == away::late || b.how == away::exit_late) return;
  if (speaks) put_stamp(b, b.places[me].acted);
  if (b.how != away::exit_before) return;
  is_done(b, speaks, false);
  end_thread();
}

// What an absent participant does instead of, or after, the barrier. Barrier must have: bool meet(speaks),
// which returns false when its wait timed out; void wait_elsewhere(); void drop().
template <class Barrier>
__device__ void stay_away(const gpu_board& b, unsigned me, bool speaks, Barrier& barrier) {
  constexpr unsigned long long well_waited_ns = 30'000'000;
  gpu_progress& mine = b.places[me];
  if (b.how == away::late || b.how == away::exit_late) {
    wait_for_all(b, false, [](gpu_progress& p) -> unsigned long long& { return p.arrived; });
    for (const auto since = algorithm::ptx::global_time_ns();
         algorithm::ptx::global_time_ns() - since < well_waited_ns;)
      rest();
  }
  if (b.how == away::exit_late) {
    if (speaks) put_stamp(b, mine.acted);
    is_done(b, speaks, false);
    end_thread();
  }
  if (b.how == away::spin)
    while (value_of(b.counts->release) == 0) {}
  if (b.how == away::drop) barrier.drop();
  if (b.how == away::elsewhere || b.how == away::late) {
    if (speaks) put_stamp(b, mine.arrived);
    bool through = true;
    if (b.how == away::late) through = barrier.meet(speaks);
    else barrier.wait_elsewhere();
    if (speaks && through) put_stamp(b, mine.left);
  }
  is_done(b, speaks, false);
}

// What a present participant does before the barrier: it waits for the absent to act first, where the case
// asks for that order, and stamps.
__device__ inline void come(const gpu_board& b, unsigned me, bool speaks) {
  if (b.how != away::nobody && b.how != away::late && b.how != away::exit_late)
    wait_for_all(b, true, [](gpu_progress& p) -> unsigned long long& { return p.acted; });
  if (speaks) put_stamp(b, b.places[me].arrived);
}

__device__ inline void go(const gpu_board& b, unsigned me, bool speaks, bool through) {
  if (speaks && through) put_stamp(b, b.places[me].left);
  is_done(b, speaks, true);
}

// Called by every thread of the case. `me`: its participant; `speaks`: whether it is the thread that stamps.
// Predicated: only the barrier itself stands under the condition; otherwise all that the participant does
// stands in a branch of its own.
template <bool Predicated, class Barrier>
__device__ void take_part(const gpu_board& b, unsigned me, bool speaks, Barrier& barrier) {
  const bool absent = is_absent(b, me);
  if constexpr (Predicated) {
    if (absent) act_early(b, me, speaks);
    else come(b, me, speaks);
    // The condition is loaded from memory, so that the compiler cannot merge the barrier into the branches
    // around it.
    const bool stays_out = absent != (value_of(b.places[me].zero) != 0);
    bool through = true;
    if (!stays_out) through = barrier.meet(speaks);
    if (absent) stay_away(b, me, speaks, barrier);
    else go(b, me, speaks, through);
  } else if (absent) {
    act_early(b, me, speaks);
    stay_away(b, me, speaks, barrier);
  } else {
    come(b, me, speaks);
    go(b, me, speaks, barrier.meet(speaks));
  }
}

}  // namespace mgsync::blocking
