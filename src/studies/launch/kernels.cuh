// How a kernel waits, and how it stores how long it waited.
#pragma once

#include "src/studies/launch/kernels.hpp"

namespace mgsync::launch {

__device__ inline unsigned long long global_timer_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Waits in one thread of each block; the block, and so the kernel, ends with it. %globaltimer steps by 32 ns
// on Hopper and by up to 1 us elsewhere, so the actual wait is measured. Bounded: at most 16 x 320 us are
// asked for.
__device__ inline unsigned long long wait_ns(unsigned long long ns) {
  const auto begin = global_timer_ns();
  const auto end = begin + ns;
  auto now = begin;
  while (now < end) now = global_timer_ns();
  return now - begin;
}
__device__ inline void wait_here(const waiting& asked) {
  if (threadIdx.x != 0 || asked.units == 0) return;
  const auto waited = wait_ns(static_cast<unsigned long long>(asked.units) * asked.unit_ns);
  if (blockIdx.x == 0 && asked.waited_ns != nullptr) atomicAdd(asked.waited_ns, waited);
}

}  // namespace mgsync::launch
