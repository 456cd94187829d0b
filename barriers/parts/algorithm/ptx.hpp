// The loads, stores, atomics and fences of GPU barriers, each named with its ordering and given its scope. In
// PTX with "memory" clobbers, since a barrier orders the ordinary accesses around it. C++17, compute
// capability 7.0 and later.
#pragma once

#include "barriers/parts/algorithm/integers.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm { namespace ptx {

enum class scope { gpu, system };

// fence.release and fence.acquire need compute capability 9.0 (below it ptxas compiles them to nothing
// without a warning) and PTX ISA 8.6 (CUDA 12.7). Where they are missing, a release is a full fence, and
// polls are acquire loads.
#if defined(__CUDA_ARCH__) &&                                                                                \
    (__CUDA_ARCH__ < 900 || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1207)
inline constexpr bool one_sided_fences = false;
#else
inline constexpr bool one_sided_fences = true;
#endif

__device__ __forceinline__ std::uint32_t load_volatile(const std::uint32_t* w) {
  std::uint32_t v;
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(w));
  return v;
}

template <scope S>
__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* w) {
  std::uint32_t v;
  if constexpr (S == scope::gpu)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(w) : "memory");
  else asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(w) : "memory");
  return v;
}

template <scope S>
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* w) {
  std::uint32_t v;
  if constexpr (S == scope::gpu)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(w) : "memory");
  else asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(w) : "memory");
  return v;
}

template <scope S>
__device__ __forceinline__ std::uint64_t load_acquire(const std::uint64_t* w) {
  std::uint64_t v;
  if constexpr (S == scope::gpu)
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(w) : "memory");
  else asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(w) : "memory");
  return v;
}

template <scope S>
__device__ __forceinline__ std::uint64_t load_relaxed(const std::uint64_t* w) {
  std::uint64_t v;
  if constexpr (S == scope::gpu)
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(w) : "memory");
  else asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(w) : "memory");
  return v;
}

template <scope S>
__device__ __forceinline__ void store_relaxed(std::uint32_t* w, std::uint32_t v) {
  if constexpr (S == scope::gpu)
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(w), "r"(v) : "memory");
  else asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(w), "r"(v) : "memory");
}

template <scope S>
__device__ __forceinline__ void store_relaxed(std::uint64_t* w, std::uint64_t v) {
  if constexpr (S == scope::gpu)
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(w), "l"(v) : "memory");
  else asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(w), "l"(v) : "memory");
}

// Adds without asking for the value before: fire and forget.
template <scope S>
__device__ __forceinline__ void add_relaxed(std::uint32_t* w, std::uint32_t v) {
  if constexpr (S == scope::gpu)
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(w), "r"(v) : "memory");
  else asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(w), "r"(v) : "memory");
}

__device__ __forceinline__ void max_relaxed_gpu(std::uint64_t* w, std::uint64_t v) {
  asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"(w), "l"(v) : "memory");
}

template <scope S>
__device__ __forceinline__ std::uint32_t fetch_add_relaxed(std::uint32_t* w, std::uint32_t v) {
  std::uint32_t b;
  if constexpr (S == scope::gpu)
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(b) : "l"(w), "r"(v) : "memory");
  else asm volatile("atom.relaxed.sys.global.add.u32 %0, [%1], %2;" : "=r"(b) : "l"(w), "r"(v) : "memory");
  return b;
}

template <scope S>
__device__ __forceinline__ std::uint32_t fetch_add_acq_rel(std::uint32_t* w, std::uint32_t v) {
  std::uint32_t b;
  if constexpr (S == scope::gpu)
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(b) : "l"(w), "r"(v) : "memory");
  else asm volatile("atom.acq_rel.sys.global.add.u32 %0, [%1], %2;" : "=r"(b) : "l"(w), "r"(v) : "memory");
  return b;
}

template <scope S>
__device__ __forceinline__ std::uint32_t fetch_add_acquire(std::uint32_t* w, std::uint32_t v) {
  std::uint32_t b;
  if constexpr (S == scope::gpu)
    asm volatile("atom.acquire.gpu.global.add.u32 %0, [%1], %2;" : "=r"(b) : "l"(w), "r"(v) : "memory");
  else asm volatile("atom.acquire.sys.global.add.u32 %0, [%1], %2;" : "=r"(b) : "l"(w), "r"(v) : "memory");
  return b;
}

// What was there before; `to` is there now if that was `from`.
template <scope S>
__device__ __forceinline__ std::uint32_t swap_relaxed(std::uint32_t* w, std::uint32_t from,
                                                      std::uint32_t to) {
  std::uint32_t b;
  if constexpr (S == scope::gpu)
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(b)
                 : "l"(w), "r"(from), "r"(to)
                 : "memory");
  else
    asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(b)
                 : "l"(w), "r"(from), "r"(to)
                 : "memory");
  return b;
}

template <scope S>
__device__ __forceinline__ std::uint32_t swap_acquire(std::uint32_t* w, std::uint32_t from,
                                                      std::uint32_t to) {
  std::uint32_t b;
  if constexpr (S == scope::gpu)
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(b)
                 : "l"(w), "r"(from), "r"(to)
                 : "memory");
  else
    asm volatile("atom.acquire.sys.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(b)
                 : "l"(w), "r"(from), "r"(to)
                 : "memory");
  return b;
}

template <scope S>
__device__ __forceinline__ void fence_acq_rel() {
  if constexpr (S == scope::gpu) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  else asm volatile("fence.acq_rel.sys;" ::: "memory");
}

template <scope S>
__device__ __forceinline__ void fence_release() {
  if constexpr (!one_sided_fences) fence_acq_rel<S>();
  else if constexpr (S == scope::gpu) asm volatile("fence.release.gpu;" ::: "memory");
  else asm volatile("fence.release.sys;" ::: "memory");
}

// A poll or an addition of which fence_polled(), after the last of them, makes an acquire.
template <scope S>
__device__ __forceinline__ std::uint32_t fetch_add_polled(std::uint32_t* w, std::uint32_t v) {
  if constexpr (one_sided_fences) return fetch_add_relaxed<S>(w, v);
  else return fetch_add_acquire<S>(w, v);
}
template <scope S, class Word>
__device__ __forceinline__ Word poll(const Word* w) {
  if constexpr (one_sided_fences) return load_relaxed<S>(w);
  else return load_acquire<S>(w);
}

template <scope S>
__device__ __forceinline__ void fence_polled() {
  if constexpr (!one_sided_fences) return;
  else if constexpr (S == scope::gpu) asm volatile("fence.acquire.gpu;" ::: "memory");
  else asm volatile("fence.acquire.sys;" ::: "memory");
}

// Between accesses of the asynchronous proxy (bulk copies, TMA) and ordinary ones to global memory. Before
// compute capability 9.0 there is no such proxy.
__device__ __forceinline__ void fence_async_proxy() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}

// The calling thread's number in its warp.
__device__ __forceinline__ unsigned lane() {
  unsigned mine;
  asm("mov.u32 %0, %%laneid;" : "=r"(mine));
  return mine;
}

__device__ __forceinline__ std::uint64_t global_time_ns() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

}}}}  // namespace mgsync::v1::algorithm::ptx
