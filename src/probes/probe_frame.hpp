// The frame around everything that the SM's cycle counter times: two reads with nothing but the probe's work
// between them, pass by pass. The check of the compiled machine code (src/probes/machine_code) makes sure of
// that: where a compiler moves anything between the reads, the check fails and the probe is not measured.
//
// Most work is a chain of an operation, a struct with
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

// When the reads of a pass are issued: where the compiler leaves them; the second once the result is there;
// or the first once the operands are, too. (Paper 002 moved them in the machine code by hand. Here a read
// depends on a value, so that it cannot be issued before the value has arrived, and no assembler is needed.)
enum class reads { as_compiled, wait_for_result, wait_for_both };

// Behind the second read of a pass. `zero` is always 0, which the compiler cannot know: stores whose address
// depends on it stay behind the read. `never` is a value that no work ends with.
struct pass_end {
  std::uint32_t pass, zero, never;
};

// The warps of a grid, and this one.
struct warp_place {
  std::uint32_t warps, warp;
};

// What the frame asks of work, besides run() between the reads and value(), for which the second one waits.
struct work {
  static constexpr bool by_one_lane = false;  // only the first one stamps: where lanes come to the end apart
  __device__ void ready(const arguments&) {}  // before the first read of every pass
  __device__ std::uint32_t operands() const { return 0; }  // reads::wait_for_both: for what the first waits
  __device__ void keep(const arguments&, const pass_end&) const {}  // behind every pass
  __device__ void end(const arguments&, const pass_end&) const {}   // behind the last
};

// Runs the passes of `what`, each between two clock reads, in every warp of the grid.
template <reads Reads, class Work>
__device__ __forceinline__ void timed_passes(const arguments& a, Work& what) {
  const std::uint32_t warps_per_block = (blockDim.x + 31) / 32;
  warp_place at{gridDim.x * warps_per_block, blockIdx.x * warps_per_block + threadIdx.x / 32};
  if constexpr (requires { Work::place(); }) at = Work::place();
  const std::uint32_t sm_before = this_sm();
  const std::uint32_t never = a.held->never;
  const std::uint32_t passes = a.passes;
  std::uint64_t begin = 0, end = 0;
  // The number of passes comes from the kernel argument alone: with a count that could differ between lanes,
  // the compiler would add divergence handling to the chain.
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    what.ready(a);
    begin = Reads == reads::wait_for_both ? clock_after(what.operands(), never) : clock_now();
    what.run();
    end = Reads == reads::as_compiled ? clock_now() : clock_after(what.value(), never);
    const auto behind = static_cast<std::uint32_t>(end >> 63);
    if (!Work::by_one_lane || threadIdx.x % 32 == 0)
      a.stamps[static_cast<std::size_t>(pass + behind) * at.warps + at.warp + behind] = {begin, end};
    what.keep(a, {pass + behind, behind, never});
  }
  if (Work::by_one_lane && threadIdx.x % 32 != 0) return;
  const auto behind = Work::by_one_lane ? 0 : static_cast<std::uint32_t>(end >> 63);
  a.sms[at.warp + behind] = sm_before;
  a.sms[at.warps + at.warp + behind] = this_sm();
  what.end(a, {passes, behind, never});
}

// `Links` links of an operation, unrolled; or as many turns of a loop of 256 as the launch asks for, with
// little code.
template <class Op, int Links, bool Together>
struct links_of : work {
  Op op;
  std::uint32_t loops;
  __device__ explicit links_of(const arguments& a) : op(a), loops(Links == loop_256 ? a.held->loops : 1) {}
  __device__ __forceinline__ void ready(const arguments& a) const {
    wait_for_window(a.window_log2_ns);
    if constexpr (Together)
      if (a.together != 0) start_together();
  }
  __device__ __forceinline__ void run() {
    if constexpr (Links == loop_256) {
      std::uint32_t turn = 0;
#pragma unroll 1
      do {
#pragma unroll
        for (int step = 0; step < 256; ++step) op.step();
      } while (++turn < loops);
    } else {
#pragma unroll
      for (int step = 0; step < Links; ++step) op.step();
    }
  }
  __device__ __forceinline__ std::uint32_t value() const { return op.value(); }
  __device__ __forceinline__ void end(const arguments& a, const pass_end& at) const {
    a.output[threadIdx.x + at.zero] = op.value();
  }
};

// One link between two clock reads.
template <class Op>
struct one_link : links_of<Op, 1, false> {
  using links_of<Op, 1, false>::links_of;
  __device__ __forceinline__ void ready(const arguments&) const { __syncwarp(); }
  __device__ __forceinline__ std::uint32_t operands() const { return this->op.value(); }
};

// What many operations begin with: a word that no other lane has; and its address in shared memory.
struct word_per_lane {
  std::uint32_t v;
  __device__ explicit word_per_lane(const arguments& a) : v(a.input[threadIdx.x]) {}
  __device__ std::uint32_t value() const { return v; }
};
__device__ __forceinline__ std::uint32_t in_shared(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

// The forms of a catalogue's entries that several sources have: in every warp by itself; in whole blocks,
// whose warps start each pass together; and in clusters, whose blocks stay until all are done.
template <class Op, int Links>
__device__ __forceinline__ void chain(const arguments& a) {
  if constexpr (Links == once || Links == as_compiled) {
    one_link<Op> link(a);
    timed_passes<Links == once ? reads::wait_for_both : reads::as_compiled>(a, link);
  } else {
    links_of<Op, Links, false> links(a);
    timed_passes<reads::wait_for_result>(a, links);
  }
}
template <class Op, int Links>
__device__ __forceinline__ void together(const arguments& a) {
  links_of<Op, Links, true> links(a);
  timed_passes<reads::wait_for_result>(a, links);
}
template <class Op, int Links>
__device__ __forceinline__ void meeting(const arguments& a) {
  chain<Op, Links>(a);
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
}

}  // namespace mgsync::probes
