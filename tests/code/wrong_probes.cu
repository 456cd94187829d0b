// Probes that are not what they say. Each must fail the code check, or the check is worth nothing. Never run.
#include "src/probes/probe_kernels.hpp"

namespace {

using namespace mgsync::probes;

// Every lane starts from the same argument: the compiler knows what a shuffle of it gives, and removes the
// chain.
struct uniform_input {
  std::uint32_t v;
  __device__ explicit uniform_input(const arguments& a) : v(a.words) {}
  __device__ void step() { v = __shfl_xor_sync(0xffffffffu, v, 1); }
  __device__ std::uint32_t value() const { return v; }
};

// Shuffles side by side: none waits for another.
struct no_dependence {
  std::uint32_t v[8];
  int k = 0;
  __device__ explicit no_dependence(const arguments& a) {
    for (int i = 0; i < 8; ++i) v[i] = a.input[threadIdx.x + i];
  }
  __device__ void step() {
    v[k & 7] = __shfl_xor_sync(0xffffffffu, v[k & 7], 1);
    ++k;
  }
  __device__ std::uint32_t value() const { return v[0] ^ v[1] ^ v[2] ^ v[3] ^ v[4] ^ v[5] ^ v[6] ^ v[7]; }
};

// The links are there, and the second read does not wait for the last of them.
struct not_waited_for {
  std::uint32_t v, other;
  __device__ explicit not_waited_for(const arguments& a)
      : v(a.input[threadIdx.x]), other(a.input[blockDim.x + threadIdx.x]) {}
  __device__ void step() { v = __shfl_xor_sync(0xffffffffu, v, 1); }
  __device__ std::uint32_t value() const { return other; }
};

struct sound {
  std::uint32_t v;
  __device__ explicit sound(const arguments& a) : v(a.input[threadIdx.x]) {}
  __device__ void step() { v = __shfl_xor_sync(0xffffffffu, v, 1); }
  __device__ std::uint32_t value() const { return v; }
};

// Something more than the link stands between the reads.
struct more_than_said {
  std::uint32_t v;
  __device__ explicit more_than_said(const arguments& a) : v(a.input[threadIdx.x]) {}
  __device__ void step() { v = __shfl_xor_sync(0xffffffffu, v, 1) + 1; }
  __device__ std::uint32_t value() const { return v; }
};

// Adds between arriving at a barrier and waiting for it: the assembler moves them past the barrier.
struct work_that_moves {
  float v, each;
  __device__ explicit work_that_moves(const arguments& a)
      : v(static_cast<float>(a.input[threadIdx.x])), each(static_cast<float>(a.input[blockDim.x])) {}
  __device__ void step() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" : "+f"(v)::"memory");
#pragma unroll
    for (int add = 0; add < 4; ++add) asm volatile("add.f32 %0, %0, %1;" : "+f"(v) : "f"(each));
    asm volatile("barrier.cluster.wait.aligned;" : "+f"(v)::"memory");
  }
  __device__ std::uint32_t value() const { return __float_as_uint(v); }
};

}  // namespace

// The cluster's size stands in the code: else there would be a branch for launches without clusters.
extern "C" __global__ void __cluster_dims__(4, 1, 1) work_that_moves_8(const __grid_constant__ arguments a) {
  chain<work_that_moves, 8>(a);
}
MGSYNC_PROBE(70, sound, sound, chain, (8, loop_256))
MGSYNC_PROBE(70, uniform_input, uniform_input, chain, (8))
MGSYNC_PROBE(70, no_dependence, no_dependence, chain, (8))
MGSYNC_PROBE(70, more_than_said, more_than_said, chain, (8))

// The 32-bit clock, as the papers' probes read it.
extern "C" __global__ void clock_of_32_bits_8(const __grid_constant__ arguments a) {
  std::uint32_t v = a.input[threadIdx.x];
  const std::uint32_t begin = static_cast<std::uint32_t>(clock());
  for (int k = 0; k < 8; ++k) v = __shfl_xor_sync(0xffffffffu, v, 1);
  const std::uint32_t end = static_cast<std::uint32_t>(clock());
  a.output[threadIdx.x] = v;
  a.sms[threadIdx.x] = end - begin;
}

extern "C" __global__ void not_waited_for_8(const __grid_constant__ arguments a) {
  links_of<not_waited_for, 8, false> links(a);
  timed_passes<reads::wait_for_result>(a, links);
  a.output[threadIdx.x] = links.op.v;
}
