// The cycle counter of the hardware thread that asks: the finest clock there is, and every core's own. On x86
// it counts at a constant rate of its own (TSC), on Arm it is the virtual counter. Elsewhere there is none.
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

// Read once all loads and computations before it are done, and before any store after it is seen by others:
// what was waited for lies before, what is given away lies behind. Loads after it may come before.
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
