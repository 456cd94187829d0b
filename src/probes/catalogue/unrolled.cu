// Chains of adds of floats as long as the papers' (001 table 1: 512, and 2056 to 51200 more), fully unrolled:
// 16 bytes per add, so that the longer ones do not fit into the instruction caches.
#include "src/probes/probe_kernels.hpp"

namespace {

using namespace mgsync::probes;

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
__device__ __forceinline__ void run_links(Op& op) {
  if constexpr (Links > 16384) {
    run_links<Links / 2>(op);
    run_links<Links - Links / 2>(op);
  } else {
    constexpr int each = Links % 64 == 0 ? 64 : 8;
    static_assert(Links % each == 0);
#pragma unroll
    for (int k = 0; k < Links / each; ++k) op.template step<each>();
  }
}

template <class Op, int Links>
struct links_in_code : links_of<Op, Links, false> {
  using links_of<Op, Links, false>::links_of;
  __device__ __forceinline__ void run() { run_links<Links>(this->op); }
};
template <class Op, int Links>
__device__ __forceinline__ void in_the_code(const arguments& a) {
  links_in_code<Op, Links> links(a);
  timed_passes<reads::wait_for_result>(a, links);
}

}  // namespace

#include "src/probes/catalogue/unrolled.inc"
