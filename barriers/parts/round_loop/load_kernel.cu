#include "barriers/parts/round_loop/load_kernel.hpp"

#include "barriers/parts/algorithm/ptx.hpp"

namespace mgsync::round_loop {

namespace {

namespace ptx = algorithm::ptx;

constexpr unsigned steps = 4;  // accesses of a thread between two looks at the phase, in flight at once

// The addresses that a thread reads or writes one after the other: through a target, then the next one.
class walk {
 public:
  __device__ explicit walk(const load_run& run)
      : run_(run),
        words_(static_cast<std::uint32_t>(run.bytes / sizeof(uint4))),
        step_(gridDim.x * blockDim.x),
        at_(blockIdx.x * blockDim.x + threadIdx.x) {}
  __device__ uint4* next() {
    auto* const here = reinterpret_cast<uint4*>(run_.targets[target_]) + at_;
    at_ += step_;
    if (at_ >= words_) {
      at_ -= words_;
      target_ = target_ + 1 == run_.count ? 0 : target_ + 1;
    }
    return here;
  }

 private:
  const load_run& run_;
  std::uint32_t words_, step_, at_;
  std::uint32_t target_ = 0;
};

// The result must be used: otherwise no thread would wait for its reads, and any number would be in flight.
__device__ std::uint32_t read(const uint4* from) {
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v.x ^ v.y ^ v.z ^ v.w;
}

template <traffic Kind>
__device__ std::uint32_t pass(walk& where, const load_run& run, std::uint32_t number) {
  std::uint32_t seen = 0;
  if constexpr (Kind == traffic::host_reads) {
    seen = ptx::load_relaxed<ptx::scope::system>(run.host_word);
  } else {
#pragma unroll
    for (unsigned k = 0; k < steps; ++k) {
      if constexpr (Kind == traffic::peer_stores || Kind == traffic::local_stores)
        *where.next() = make_uint4(number, number, number, number);
      else seen ^= read(where.next());
    }
  }
  return seen;
}

// A warp's read of one word is one request.
template <traffic Kind>
__device__ unsigned bytes_of_pass() {
  if constexpr (Kind == traffic::host_reads) return threadIdx.x % 32 == 0 ? sizeof(std::uint32_t) : 0;
  else return steps * sizeof(uint4);
}

__device__ std::uint32_t this_sm() {
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 &&        \
    __CUDA_ARCH__ / 100 != 10
constexpr unsigned load_blocks_per_sm = 1;  // SMs of fewer than 2048 threads
#else
constexpr unsigned load_blocks_per_sm = 2;
#endif

// Thread 0 looks at the phase and tells the block, which does not wait for it.
template <traffic Kind>
__global__ void __launch_bounds__(most_load_threads, load_blocks_per_sm)
    make_traffic(const __grid_constant__ load_run run) {
  __shared__ volatile std::uint32_t told;
  __shared__ std::uint64_t changed_ns[load_ends + 1];
  __shared__ unsigned long long counted;
  if (threadIdx.x <= load_ends) changed_ns[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    told = load_settles;
    counted = 0;
    atomicAdd(run.running, 1u);
  }
  __syncthreads();
  const std::uint64_t begin = ptx::global_time_ns();
  walk where(run);
  std::uint64_t passes = 0;
  std::uint32_t nothing = 0;
  for (std::uint32_t number = 0;; ++number) {
    if (threadIdx.x == 0) {
      std::uint32_t now = ptx::load_relaxed<ptx::scope::system>(run.phase);
      const std::uint64_t time = ptx::global_time_ns();
      if (time - begin > run.budget_ns) now = load_ends;
      if (now != told) {
        changed_ns[now] = time;
        told = now;
      }
    }
    const std::uint32_t phase = told;
    if (phase == load_ends) break;
    nothing ^= pass<Kind>(where, run, number);
    if (phase == load_counts) ++passes;
  }
  atomicAdd(&counted, static_cast<unsigned long long>(passes * bytes_of_pass<Kind>()));
  const auto used = static_cast<std::uint32_t>(__syncthreads_or(nothing == 0x12345678u));
  if (threadIdx.x == 0)
    run.records[blockIdx.x] = {counted, changed_ns[load_counts], changed_ns[load_ends], this_sm(), used};
}

}  // namespace

const void* load_kernel(traffic kind) {
  switch (kind) {
  case traffic::peer_stores: return reinterpret_cast<const void*>(make_traffic<traffic::peer_stores>);
  case traffic::peer_loads: return reinterpret_cast<const void*>(make_traffic<traffic::peer_loads>);
  case traffic::local_stores: return reinterpret_cast<const void*>(make_traffic<traffic::local_stores>);
  case traffic::local_loads: return reinterpret_cast<const void*>(make_traffic<traffic::local_loads>);
  case traffic::host_reads: return reinterpret_cast<const void*>(make_traffic<traffic::host_reads>);
  case traffic::none: break;
  }
  return nullptr;
}

}  // namespace mgsync::round_loop
