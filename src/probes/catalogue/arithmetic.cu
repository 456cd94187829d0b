// Chains whose latency is known: adds of floats, doubles and integers (001 section 3.3 and table 1; 000
// section IX-D), unrolled and looped. The study of the method itself measures them by both clocks.
#include "src/probes/probe_kernels.hpp"

namespace {

using namespace mgsync::probes;

// p = p + q, as inline PTX, so that nothing is folded, contracted or reassociated. q is so small that p does
// not change.
struct fp32_add {
  float p, q;
  __device__ explicit fp32_add(const arguments& a)
      : p(static_cast<float>(a.input[threadIdx.x])),
        q(static_cast<float>(a.input[blockDim.x + threadIdx.x]) * 0x1p-64f) {}
  __device__ void step() { asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(p) : "f"(q)); }
  __device__ std::uint32_t value() const { return __float_as_uint(p); }
};

struct fp64_add {
  double p, q;
  __device__ explicit fp64_add(const arguments& a)
      : p(a.input[threadIdx.x]), q(static_cast<double>(a.input[blockDim.x + threadIdx.x]) * 0x1p-64) {}
  __device__ void step() { asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(p) : "d"(q)); }
  __device__ std::uint32_t value() const { return static_cast<std::uint32_t>(__double2hiint(p)); }
};

// The integer adder takes three operands: the two adds of a link become one instruction.
struct int_add {
  std::uint32_t p, q;
  __device__ explicit int_add(const arguments& a)
      : p(a.input[threadIdx.x]), q(a.input[blockDim.x + threadIdx.x]) {}
  __device__ void step() { asm volatile("add.u32 %0, %0, %1;\n add.u32 %0, %0, %1;" : "+r"(p) : "r"(q)); }
  __device__ std::uint32_t value() const { return p; }
};

}  // namespace

#include "src/probes/catalogue/arithmetic.inc"
