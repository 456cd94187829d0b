// The frame around every probe's chain: two reads of the SM's cycle counter with nothing but the chain
// between them. The check of the compiled machine code (src/probes/machine_code) makes sure of that: where a
// compiler moves anything between the reads, the check fails and the probe is not measured.
//
// An operation is a struct with
//   __device__ explicit Op(const arguments&)   // takes its inputs from memory, per lane
//   __device__ void step()                     // one link; its result is the next link's input
//   __device__ std::uint32_t value() const     // the last result: the second read waits for it
#pragma once

#include <cstdint>

#include "src/probes/probe_arguments.hpp"

namespace mgsync::probes {

// A common start is a moment at which the cycle counter's low bits are 0. After most_askings reads without
// meeting one the pass begins all the same.
inline constexpr std::uint32_t start_mask = 63;
inline constexpr int most_askings = 1024;

__device__ __forceinline__ std::uint64_t clock_now() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// Reads the counter once `value` has been computed: a comparison waits for the value, and the read depends on
// the comparison. Returns 0 where value == never.
__device__ __forceinline__ std::uint64_t clock_after(std::uint32_t value, std::uint32_t never) {
  std::uint64_t t;
  asm volatile("{\n .reg .pred arrived;\n setp.ne.u32 arrived, %1, %2;\n mov.u64 %0, 0;\n @arrived mov.u64 "
               "%0, %%clock64;\n}"
               : "=l"(t)
               : "r"(value), "r"(never)
               : "memory");
  return t;
}

__device__ __forceinline__ std::uint32_t this_sm() {
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// Spins until the global timer enters its next window of 2^window_log2_ns ns, so that the warps of all blocks
// start within one step of that timer.
__device__ __forceinline__ void wait_for_window(std::uint32_t window_log2_ns) {
  if (window_log2_ns == 0) return;
  std::uint64_t first, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first)::"memory");
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  } while ((now >> window_log2_ns) == (first >> window_log2_ns));
}

// A block barrier whose result is used: a plain barrier does not keep a later clock read from being issued
// before it has completed.
__device__ __forceinline__ void meet_before_reading() {
  if (__syncthreads_count(1) == 0) asm volatile("trap;");
}

// Makes the warps of a block start every pass in the same state: the stores of the pass before have
// completed, all warps wait at a barrier for the first warp, which arrives when the cycle counter's low bits
// are 0, and further barriers bring the warps into the order in which barriers release them.
__device__ __forceinline__ void start_together() {
  __threadfence();
  meet_before_reading();
  if (threadIdx.x < 32)
    for (int asked = 0; asked < most_askings; ++asked) {
      const auto now = clock_now();
      if ((now & start_mask) == now >> 63) break;  // the highest bit is 0; it keeps the read 64 bits wide
      if ((now & 1) == 0) continue;
      // The loop takes an even number of cycles, so that from an odd count it would never meet the start.
      // Reading a special register takes a varying number of cycles, which breaks that rhythm.
      std::uint32_t lane;
      asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
      asked += static_cast<int>(lane >> 5);  // adds 0, so that the register is read
    }
#pragma unroll
  for (int settling = 0; settling < 3; ++settling) __syncthreads();
  meet_before_reading();
}

// An operation that all threads of a block run together declares `static constexpr bool of_whole_block =
// true`.
template <class Op>
inline constexpr bool of_whole_block = [] {
  if constexpr (requires { Op::of_whole_block; }) return Op::of_whole_block;
  else return false;
}();

// Runs the passes of `chain`, each between two clock reads, in every warp of the grid.
template <class Op, class Chain>
__device__ __forceinline__ void timed_passes(const arguments& a, Op& op, Chain chain) {
  const std::uint32_t warps_per_block = (blockDim.x + 31) / 32;
  const std::uint32_t warps = gridDim.x * warps_per_block;
  const std::uint32_t warp = blockIdx.x * warps_per_block + threadIdx.x / 32;
  const std::uint32_t sm_before = this_sm();
  const std::uint32_t never = a.held->never;
  const std::uint32_t passes = a.passes;
  std::uint64_t begin = 0, end = 0;
  // The number of passes comes from the kernel argument alone: with a count that could differ between lanes,
  // the compiler would add divergence handling to the chain.
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    wait_for_window(a.window_log2_ns);
    if constexpr (of_whole_block<Op>)
      if (a.together != 0) start_together();
    begin = clock_now();
    chain(op);
    end = clock_after(op.value(), never);
    // Always 0, which the compiler cannot know: stores whose address depends on it stay behind the second
    // clock read.
    const auto behind = static_cast<std::uint32_t>(end >> 63);
    a.stamps[static_cast<std::size_t>(pass + behind) * warps + warp + behind] = {begin, end};
  }
  const auto behind = static_cast<std::uint32_t>(end >> 63);
  a.sms[warp + behind] = sm_before;
  a.sms[warps + warp + behind] = this_sm();
  a.output[threadIdx.x + behind] = op.value();
}

// A chain of `Steps` links, unrolled.
template <class Op, int Steps>
__device__ __forceinline__ void timed_chain(const arguments& a) {
  Op op(a);
  timed_passes(a, op, [](Op& o) {
#pragma unroll
    for (int step = 0; step < Steps; ++step) o.step();
  });
}

// A loop over `Body` links: loops x Body links in all, with little code.
template <class Op, int Body>
__device__ __forceinline__ void timed_loop(const arguments& a) {
  Op op(a);
  const std::uint32_t loops = a.held->loops;
  timed_passes(a, op, [loops](Op& o) {
    std::uint32_t turn = 0;
#pragma unroll 1
    do {
#pragma unroll
      for (int step = 0; step < Body; ++step) o.step();
    } while (++turn < loops);
  });
}

}  // namespace mgsync::probes

// Defines chains of the lengths that a slope is fitted to, for short links and for long ones.
#define MGSYNC_PROBE_SLOPE(name, Op)                                                                         \
  MGSYNC_PROBE(name, Op, 16)                                                                                 \
  MGSYNC_PROBE(name, Op, 32)                                                                                 \
  MGSYNC_PROBE(name, Op, 64) MGSYNC_PROBE(name, Op, 128) MGSYNC_PROBE(name, Op, 256)
#define MGSYNC_PROBE_SHORT_SLOPE(name, Op)                                                                   \
  MGSYNC_PROBE(name, Op, 4) MGSYNC_PROBE(name, Op, 8) MGSYNC_PROBE(name, Op, 16) MGSYNC_PROBE(name, Op, 32)

// Defines a kernel under the name by which the host launches it and the check of the machine code finds it.
#define MGSYNC_PROBE(name, Op, steps)                                                                        \
  extern "C" __global__ void name##_##steps(const __grid_constant__ mgsync::probes::arguments a) {           \
    mgsync::probes::timed_chain<Op, steps>(a);                                                               \
  }
#define MGSYNC_PROBE_LOOP(name, Op, body)                                                                    \
  extern "C" __global__ void name##_loop_##body(const __grid_constant__ mgsync::probes::arguments a) {       \
    mgsync::probes::timed_loop<Op, body>(a);                                                                 \
  }
