// Pairs of different instructions side by side, and each alone (paper 002; docs/studies/timeline.md): how
// much of the shorter is hidden beside the longer.
#include "src/probes/probe_kernels.hpp"
#include "src/probes/region_frame.hpp"

namespace {

using namespace mgsync::probes;

// Instructions that run side by side in pairs: each takes operands that were loaded before the first clock
// read, and returns a word.
struct by_lds {
  __device__ static std::uint32_t of(const places& p) { return shared_load(p.load_at); }
};
struct by_shfl {
  __device__ static std::uint32_t of(const places& p) { return __shfl_xor_sync(0xffffffffu, p.load_at, 1); }
};
struct by_ldg {  // from L1
  __device__ static std::uint32_t of(const places& p);
};
struct by_mufu {
  __device__ static std::uint32_t of(const places& p) {
    std::uint32_t v;
    asm volatile("{\n .reg .f32 f;\n mov.b32 f, %1;\n rsqrt.approx.ftz.f32 f, f;\n mov.b32 %0, f;\n}"
                 : "=r"(v)
                 : "r"(p.load_at));
    return v;
  }
};
struct by_atoms {
  __device__ static std::uint32_t of(const places& p) {
    std::uint32_t v;
    asm volatile("atom.shared.add.u32 %0, [%1], %1;" : "=r"(v) : "r"(p.store_at) : "memory");
    return v;
  }
};
struct by_popc {
  __device__ static std::uint32_t of(const places& p) {
    std::uint32_t v;
    asm volatile("popc.b32 %0, %1;" : "=r"(v) : "r"(p.load_at));
    return v;
  }
};

struct places_and_global : places {
  const std::uint32_t* global_at;
  __device__ __forceinline__ void find(const arguments& a) {
    places::find(a);
    global_at = a.input + threadIdx.x;
  }
};
__device__ __forceinline__ std::uint32_t by_ldg::of(const places& p) {
  std::uint32_t v;
  asm volatile("ld.global.ca.u32 %0, [%1];"
               : "=r"(v)
               : "l"(static_cast<const places_and_global&>(p).global_at)
               : "memory");
  return v;
}

// One instruction, and beside it another one. A single result is combined with a word just as the two results
// of a pair are, so that this costs the same in every kernel.
template <class A, class B>
struct pair;
template <class A>
struct lone : places_and_global {
  template <class B>
  using beside = pair<A, B>;
  std::uint32_t first;
  __device__ __forceinline__ void run() { first = A::of(*this); }
  __device__ __forceinline__ std::uint32_t value() const { return first ^ store_at; }
};
template <class A, class B>
struct pair : lone<A> {
  std::uint32_t second;
  __device__ __forceinline__ void run() {
    lone<A>::run();
    second = B::of(*this);
  }
  __device__ __forceinline__ std::uint32_t value() const { return this->first ^ second; }
};

}  // namespace

#include "src/probes/catalogue/pairs.inc"
