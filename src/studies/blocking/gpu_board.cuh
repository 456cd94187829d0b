// What the participants of a case on GPUs do, in device code: lanes, warps, blocks and GPUs alike. Stamps are
// numbers that a counter of all gives out, so that no clock need be shared; they lie in host memory, which
// outlives a trap.
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

// Of the word itself: one of another type would be copied, and never change.
template <class Word>
__device__ unsigned value_of(const Word&) = delete;
__device__ inline unsigned value_of(const unsigned& word) {
  return *static_cast<const volatile unsigned*>(&word);
}

// Until all of a kind have the stamp that `field` chooses. Whoever guards the kernel ends what waits here for
// ever.
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

// Ends by a trap what has not ended by itself within the bound. Once all who are present are done, whoever
// spins is let go, so that a kernel whose barrier passed ends as it should. By one thread that takes part in
// nothing.
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

// What the absent do before the others come: only those who end, or say that they are at something else.
__device__ inline void act_early(const gpu_board& b, unsigned me, bool speaks) {
  if (b.how == away::late || b.how == away::exit_late) return;
  if (speaks) put_stamp(b, b.places[me].acted);
  if (b.how != away::exit_before) return;
  is_done(b, speaks, false);
  end_thread();
}

// Barrier: bool meet(speaks), false when its own wait came to an end; void wait_elsewhere(); void drop().
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

// What those who are present do ahead of the barrier: who comes first decides what the case asks.
__device__ inline void come(const gpu_board& b, unsigned me, bool speaks) {
  if (b.how != away::nobody && b.how != away::late && b.how != away::exit_late)
    wait_for_all(b, true, [](gpu_progress& p) -> unsigned long long& { return p.acted; });
  if (speaks) put_stamp(b, b.places[me].arrived);
}

__device__ inline void go(const gpu_board& b, unsigned me, bool speaks, bool through) {
  if (speaks && through) put_stamp(b, b.places[me].left);
  is_done(b, speaks, true);
}

// Every thread of the case, `me` being its participant and `speaks` whether it is the one that stamps.
// Predicated: nothing but the barrier itself stands under the condition; else all that the participant does
// stands in its own branch.
template <bool Predicated, class Barrier>
__device__ void take_part(const gpu_board& b, unsigned me, bool speaks, Barrier& barrier) {
  const bool absent = is_absent(b, me);
  if constexpr (Predicated) {
    if (absent) act_early(b, me, speaks);
    else come(b, me, speaks);
    // A condition that no compiler sees through: else what stands under it joins the branches around it.
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
