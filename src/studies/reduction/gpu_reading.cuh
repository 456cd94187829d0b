// How a block reads its share of the numbers and adds it up: by words, by vectors of 16 bytes with several
// loads in flight, or by bulk copies into shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/studies/reduction/gpu_kernels.hpp"

namespace mgsync::reduction {

template <class T>
struct alignas(16) vector_of {
  static constexpr unsigned count = 16 / sizeof(T);
  T values[count];
};

// A load that bypasses L1, since each number is read once.
template <class T>
__device__ __forceinline__ vector_of<T> load(const vector_of<T>* from) {
  union {
    std::uint32_t words[4];
    vector_of<T> vector;
  } got;
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(got.words[0]), "=r"(got.words[1]), "=r"(got.words[2]), "=r"(got.words[3])
               : "l"(from));
#else
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(got.words[0]), "=r"(got.words[1]), "=r"(got.words[2]), "=r"(got.words[3])
               : "l"(from));
#endif
  return got.vector;
}

template <class T>
__device__ __forceinline__ void add(T (&sums)[vector_of<T>::count], const vector_of<T>& more) {
#pragma unroll
  for (unsigned i = 0; i < vector_of<T>::count; ++i) sums[i] += more.values[i];
}

template <class T>
__device__ __forceinline__ T total(const T (&sums)[vector_of<T>::count]) {
  T all = sums[0];
#pragma unroll
  for (unsigned i = 1; i < vector_of<T>::count; ++i) all += sums[i];
  return all;
}

// The tiles that one block reads: first, first + step, ... below end.
struct tiles {
  std::size_t first, step, end;
};
__device__ __forceinline__ tiles tiles_of_block(std::size_t all, bool in_chunks) {
  if (!in_chunks) return {blockIdx.x, gridDim.x, all};
  const std::size_t each = (all + gridDim.x - 1) / gridDim.x, first = each * blockIdx.x;
  return {first, 1, first + each < all ? first + each : all};
}

// The sum of the numbers behind the last whole vector, which block 0 adds; the calling thread's part.
template <class T>
__device__ __forceinline__ T rest_of(const T* numbers, std::size_t count) {
  constexpr unsigned per = vector_of<T>::count;
  const std::size_t at = count / per * per + threadIdx.x;
  return blockIdx.x == 0 && at < count ? numbers[at] : T{0};
}

// The sum of the calling thread's share of the numbers.
template <class T, unsigned Unroll>
struct by_words {
  static constexpr bool bulk = false;
  __device__ static T sum(const T* numbers, std::size_t count, bool in_chunks) {
    const std::size_t tile = std::size_t{Unroll} * blockDim.x;
    const auto mine = tiles_of_block((count + tile - 1) / tile, in_chunks);
    T all = 0;
    for (auto t = mine.first; t < mine.end; t += mine.step) {
      const std::size_t at = t * tile + threadIdx.x;
#pragma unroll
      for (unsigned j = 0; j < Unroll; ++j)
        if (at + j * blockDim.x < count) all += numbers[at + j * blockDim.x];
    }
    return all;
  }
};

template <class T, unsigned Unroll>
struct by_vectors {
  static constexpr bool bulk = false;
  __device__ static T sum(const T* numbers, std::size_t count, bool in_chunks) {
    const auto* vectors = reinterpret_cast<const vector_of<T>*>(numbers);
    const std::size_t all = count / vector_of<T>::count, tile = std::size_t{Unroll} * blockDim.x;
    const auto mine = tiles_of_block((all + tile - 1) / tile, in_chunks);
    T sums[vector_of<T>::count] = {};
    for (auto t = mine.first; t < mine.end; t += mine.step) {
      const std::size_t at = t * tile + threadIdx.x;
      if (at + (Unroll - 1) * blockDim.x < all) {
        vector_of<T> got[Unroll];
#pragma unroll
        for (unsigned j = 0; j < Unroll; ++j) got[j] = load(vectors + at + j * blockDim.x);
#pragma unroll
        for (unsigned j = 0; j < Unroll; ++j) add(sums, got[j]);
      } else {
#pragma unroll
        for (unsigned j = 0; j < Unroll; ++j)
          if (at + j * blockDim.x < all) add(sums, load(vectors + at + j * blockDim.x));
      }
    }
    return total(sums) + rest_of(numbers, count);
  }
};

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void copy_tile(void* to, const void* from, std::uint32_t bytes,
                                          std::uint64_t* full) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full)),
               "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(full))
      : "memory");
}
// Waits until a tile has been copied. The number of polls is bounded: a copy that never completes ends the
// kernel.
__device__ __forceinline__ void wait_for_tile(std::uint64_t* full, std::uint32_t parity) {
  for (unsigned polls = 0; polls < (1u << 24); ++polls) {
    std::uint32_t done;
    asm volatile(
        "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(full)), "r"(parity)
        : "memory");
    if (done != 0) return;
  }
  __trap();
}
#endif

// A ring of tiles in shared memory, filled by one thread's bulk copies (compute capability 9.0).
template <class T, unsigned Stages>
struct by_bulk {
  static constexpr bool bulk = true;
  static constexpr unsigned tile_bytes = bulk_tile_bytes;
  __device__ static T sum(const T* numbers, std::size_t count, bool in_chunks) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ std::uint64_t full[Stages];
    const std::size_t whole = count * sizeof(T) / tile_bytes;
    const auto mine = tiles_of_block(whole, in_chunks);
    const auto* bytes = reinterpret_cast<const unsigned char*>(numbers);
    const auto copy = [&](std::size_t t, unsigned stage) {
      copy_tile(ring + stage * tile_bytes, bytes + t * tile_bytes, tile_bytes, &full[stage]);
    };
    if (threadIdx.x == 0) {
      for (unsigned s = 0; s < Stages; ++s)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[s])) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned s = 0;
      for (auto t = mine.first; t < mine.end && s < Stages; t += mine.step) copy(t, s++);
    }
    T sums[vector_of<T>::count] = {};
    unsigned stage = 0, parity = 0;
    for (auto t = mine.first; t < mine.end; t += mine.step) {
      wait_for_tile(&full[stage], parity);
      const auto* vectors = reinterpret_cast<const vector_of<T>*>(ring + stage * tile_bytes);
#pragma unroll 4
      for (unsigned i = threadIdx.x; i < tile_bytes / 16; i += blockDim.x) add(sums, vectors[i]);
      __syncthreads();
      const auto ahead = t + Stages * mine.step;
      if (threadIdx.x == 0 && ahead < mine.end) copy(ahead, stage);
      if (++stage == Stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    T all = total(sums);
    if (blockIdx.x == gridDim.x - 1)
      for (std::size_t i = whole * (tile_bytes / sizeof(T)) + threadIdx.x; i < count; i += blockDim.x)
        all += numbers[i];
    return all;
#else
    return by_vectors<T, 4>::sum(numbers, count, in_chunks);
#endif
  }
};

}  // namespace mgsync::reduction
