// The cycle counter of the calling hardware thread: the clock with the finest resolution, which need not
// agree between cores. On x86 it is the TSC, which counts at a constant rate, on Arm the virtual counter.
// Elsewhere there is none.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mgsync {

#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool has_cycle_counter = true;
#else
inline constexpr bool has_cycle_counter = false;
#endif

// The counter is read after all earlier loads and computations have finished, and before any later store is
// visible to others. Later loads may be executed before it.
inline std::uint64_t cycles_now() {
#if defined(__x86_64__)
  unsigned processor = 0;
  return __rdtscp(&processor);
#elif defined(__aarch64__)
  std::uint64_t now = 0;
  asm volatile("isb\n mrs %0, cntvct_el0" : "=r"(now)::"memory");
  return now;
#else
  return 0;
#endif
}

}  // namespace mgsync
