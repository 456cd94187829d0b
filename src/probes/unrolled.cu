// Chains of adds of floats as long as the papers' (001 table 1: 512, and 2056 to 51200 more), fully unrolled:
// 16 bytes per add, so that the longer ones do not fit into the instruction caches.
#include "src/probes/probe_frame.hpp"

namespace {

using mgsync::probes::arguments;

#define MGSYNC_8_ADDS                                                                                        \
  "add.rn.f32 %0, %0, %1;\n add.rn.f32 %0, %0, %1;\n add.rn.f32 %0, %0, %1;\n add.rn.f32 %0, %0, %1;\n"      \
  "add.rn.f32 %0, %0, %1;\n add.rn.f32 %0, %0, %1;\n add.rn.f32 %0, %0, %1;\n add.rn.f32 %0, %0, %1;\n"
#define MGSYNC_64_ADDS                                                                                       \
  MGSYNC_8_ADDS MGSYNC_8_ADDS MGSYNC_8_ADDS MGSYNC_8_ADDS MGSYNC_8_ADDS MGSYNC_8_ADDS MGSYNC_8_ADDS          \
      MGSYNC_8_ADDS

struct many_adds {
  float p, q;
  __device__ explicit many_adds(const arguments& a)
      : p(static_cast<float>(a.input[threadIdx.x])),
        q(static_cast<float>(a.input[blockDim.x + threadIdx.x]) * 0x1p-64f) {}
  // Several links in one statement, since a compiler unrolls more of these than of single links.
  template <int Links>
  __device__ void step() {
    if constexpr (Links == 64) asm volatile(MGSYNC_64_ADDS : "+f"(p) : "f"(q));
    else asm volatile(MGSYNC_8_ADDS : "+f"(p) : "f"(q));
  }
  __device__ std::uint32_t value() const { return __float_as_uint(p); }
};

// Split into halves recursively: compilers do not unroll a loop beyond some size.
template <int Links, class Op>
__device__ __forceinline__ void run(Op& op) {
  if constexpr (Links > 16384) {
    run<Links / 2>(op);
    run<Links - Links / 2>(op);
  } else {
    constexpr int each = Links % 64 == 0 ? 64 : 8;
    static_assert(Links % each == 0);
#pragma unroll
    for (int k = 0; k < Links / each; ++k) op.template step<each>();
  }
}

}  // namespace

#define MGSYNC_UNROLLED(links)                                                                               \
  extern "C" __global__ void fp32_add_unrolled_##links(const __grid_constant__ arguments a) {                \
    many_adds op(a);                                                                                         \
    mgsync::probes::timed_passes(a, op, [](many_adds& o) { run<links>(o); });                                \
  }
MGSYNC_UNROLLED(512)
MGSYNC_UNROLLED(2568)
MGSYNC_UNROLLED(5632)
MGSYNC_UNROLLED(8192)
MGSYNC_UNROLLED(10752)
MGSYNC_UNROLLED(20992)
MGSYNC_UNROLLED(26112)
MGSYNC_UNROLLED(41472)
MGSYNC_UNROLLED(51712)
