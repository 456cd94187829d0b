// The semaphores of the study's kernels: mbarriers in shared memory, with bounded waits. Below compute
// capability 8.0, which has no mbarriers, the code compiles but must not run.
#pragma once

#include <cstdint>

#include "src/studies/pipeline/agents.hpp"

namespace mgsync::pipeline {

// skeleton >> shared
// A wait longer than this is taken for a deadlock: the kernel is ended by a trap instead of spinning forever.
inline constexpr long long longest_wait_cycles = 4'000'000'000LL;

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}
// << skeleton

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// skeleton >> mbarriers
__device__ inline void mbarrier_init(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

__device__ inline void mbarrier_arrive(std::uint64_t* barrier) {
  asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(shared_address(barrier))
      : "memory");
}

// Whether the phase with this parity has ended; on compute capability 9.0 and above the hardware suspends the
// thread for a while first.
__device__ inline bool mbarrier_ended(std::uint32_t address, unsigned parity) {
  unsigned ended = 1;
  asm volatile("{ .reg .pred p;\n"
#if __CUDA_ARCH__ >= 900
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
#else
               "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
#endif
               "selp.u32 %0, 1, 0, p; }"
               : "=r"(ended)
               : "r"(address), "r"(parity)
               : "memory");
  return ended != 0;
}
// << skeleton
#else  // no mbarriers: this is compiled, and must not run
__device__ inline void mbarrier_init(std::uint64_t*, unsigned) {}
__device__ inline void mbarrier_arrive(std::uint64_t*) {}
__device__ inline bool mbarrier_ended(std::uint32_t, unsigned) {
  __trap();
  return true;
}
#endif

// skeleton >> waits
// Waits until the phase with this parity has ended; then all writes of the arriving threads are visible. The
// clock is read only if the first test fails, since a read costs as much as the test.
__device__ inline void mbarrier_wait(std::uint64_t* barrier, unsigned parity) {
  const std::uint32_t address = shared_address(barrier);
  if (mbarrier_ended(address, parity)) return;
  for (const long long begin = clock64(); !mbarrier_ended(address, parity);)
    if (clock64() - begin > longest_wait_cycles) __trap();
}
// << skeleton

}  // namespace mgsync::pipeline
