// Single instructions that move data or wait for it (paper 002; docs/studies/timeline.md): each as a chain,
// whose slope is its latency, once between two clock reads, and once as the compiler leaves it. What the
// study levels has as chains (loads, shuffles, atomics, votes, other blocks' shared memory) is not chained
// here.
#include "src/probes/probe_kernels.hpp"

namespace {

using namespace mgsync::probes;

// An empty operation, which times the two clock reads themselves.
struct nothing_at_all : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() {}
};

// A word per thread in shared memory that holds its own address: each link takes the address from the load of
// the link before.
struct own_word {
  std::uint32_t v;
  __device__ explicit own_word(const arguments&) {
    extern __shared__ std::uint32_t words[];
    words[threadIdx.x] = in_shared(words + threadIdx.x);
    v = *static_cast<volatile std::uint32_t*>(words + threadIdx.x);
  }
  __device__ std::uint32_t value() const { return v; }
};
struct store_load : own_word {
  using own_word::own_word;
  __device__ void step() {
    asm volatile("st.volatile.shared.u32 [%0], %0;\n ld.volatile.shared.u32 %0, [%0];" : "+r"(v)::"memory");
  }
};
struct store_barrier_load : own_word {
  using own_word::own_word;
  __device__ void step() {
    asm volatile("st.volatile.shared.u32 [%0], %0;" ::"r"(v) : "memory");
    __syncthreads();
    asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(v)::"memory");
  }
};
// Stores that nothing waits for: the slope is how many cycles apart stores can be issued.
struct store_issue : own_word {
  using own_word::own_word;
  __device__ void step() { asm volatile("st.volatile.shared.u32 [%0], %0;" ::"r"(v) : "memory"); }
};

// A chase with bank conflicts: a.words lanes (1, 2, 4, ... 32) access different words of the same bank. Lane
// l uses bank l / ways, and a row of its own within it.
struct bank_conflict {
  static constexpr std::uint32_t ring = 8;
  std::uint32_t at;
  __device__ explicit bank_conflict(const arguments& a) {
    extern __shared__ std::uint32_t words[];
    const std::uint32_t ways = a.words, lane = threadIdx.x % 32, bank = lane / ways, row = lane % ways;
    for (std::uint32_t k = 0; k < ring; ++k) {
      const std::uint32_t next = (k + 1) % ring;
      words[(k * ways + row) * 32 + bank] = in_shared(words + (next * ways + row) * 32 + bank);
    }
    __syncthreads();
    at = in_shared(words + row * 32 + bank);
  }
  __device__ void step() { asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory"); }
  __device__ std::uint32_t value() const { return at; }
};

// A chase through the constant cache: each word is the offset of the next one, in bytes.
__constant__ std::uint32_t offsets[16] = {4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 0};
struct constant_chase {
  std::uint32_t at;
  __device__ explicit constant_chase(const arguments& a) : at(a.input[0] & 60u) {}
  __device__ void step() {
    at = *reinterpret_cast<const volatile std::uint32_t*>(reinterpret_cast<const char*>(offsets) + at);
  }
  __device__ std::uint32_t value() const { return at; }
};

// ldmatrix as a chain: the words of the matrix rows are addresses of the rows, so that what a lane loads is
// the address for its next load.
struct matrix_load {
  std::uint32_t at;
  __device__ explicit matrix_load(const arguments&) {
    extern __shared__ std::uint32_t words[];
    const std::uint32_t lane = threadIdx.x % 32;
    words[lane] = in_shared(words + lane % 8 * 4);
    __syncthreads();
    at = in_shared(words + lane % 8 * 4);
  }
  __device__ void step() {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%0];" : "+r"(at)::"memory");
  }
  __device__ std::uint32_t value() const { return at; }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// mma.sync of 16 x 8 x 16 halves with 32-bit sums. As a chain: the sums of one multiplication are the
// accumulator of the next.
struct matrix_multiply {
  float sum[4];
  std::uint32_t left[4], right[2];
  __device__ explicit matrix_multiply(const arguments& a) {
    const std::uint32_t word = a.input[threadIdx.x];
    for (int k = 0; k < 4; ++k)
      sum[k] = __uint_as_float(0x3f800000u | ((word + k) & 0x7fffffu)), left[k] = (word ^ k) & 0x0fff0fffu;
    for (int k = 0; k < 2; ++k) right[k] = (word ^ (k + 4)) & 0x0fff0fffu;
  }
  __device__ void step() {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  }
  __device__ std::uint32_t value() const { return __float_as_uint(sum[0]); }
};

// cp.async from global to shared memory and a load from there into a register. What is copied is a pointer to
// itself, the source of the next copy: 8 bytes through L1, or 16 bytes that bypass it.
template <int Bytes>
struct asynchronous_copy {
  std::uint32_t to;
  std::uint64_t at;
  __device__ explicit asynchronous_copy(const arguments& a) {
    extern __shared__ std::uint64_t pairs[];
    to = in_shared(pairs + 2 * threadIdx.x);
    auto* const cell = reinterpret_cast<std::uint64_t*>(a.output);
    if (threadIdx.x == 0) *cell = reinterpret_cast<std::uint64_t>(cell);
    __threadfence();
    __syncthreads();
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(at) : "l"(cell) : "memory");
  }
  __device__ void step() {
    if constexpr (Bytes == 8)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(at) : "memory");
    else asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(at) : "memory");
    asm volatile("cp.async.wait_all;\n ld.volatile.shared.u64 %0, [%1];" : "=l"(at) : "r"(to) : "memory");
  }
  __device__ std::uint32_t value() const { return static_cast<std::uint32_t>(at); }
};
#endif

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ void init_mbarrier(std::uint32_t barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;\n fence.mbarrier_init.release.cluster;" ::"r"(barrier)
               : "memory");
}
// Waits until the current phase of the mbarrier has ended. The hardware suspends each try for a while; the
// wait gives up after 4096 tries, so that a faulty probe does not block the GPU.
__device__ __forceinline__ void wait_for_phase(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n .reg .pred done, more;\n .reg .u32 tries;\n mov.u32 tries, 0;\n"
      "AGAIN:\n mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n @done bra THERE;\n"
      " add.u32 tries, tries, 1;\n setp.lt.u32 more, tries, 4096;\n @more bra AGAIN;\nTHERE:\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}

// The same chain by the copy engine (cp.async.bulk), 16 bytes, run by one lane; an mbarrier that counts the
// bytes tells when they have arrived.
struct bulk_copy {
  std::uint32_t to, barrier, parity = 0;
  std::uint64_t at;
  __device__ explicit bulk_copy(const arguments& a) {
    extern __shared__ std::uint64_t pairs[];
    to = in_shared(pairs);
    barrier = in_shared(pairs + 2);
    init_mbarrier(barrier);
    auto* const cell = reinterpret_cast<std::uint64_t*>(a.output);
    *cell = reinterpret_cast<std::uint64_t>(cell);
    __threadfence();
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(at) : "l"(cell) : "memory");
  }
  __device__ void step() {
    asm volatile(
        "{\n .reg .b64 state;\n mbarrier.arrive.expect_tx.shared.b64 state, [%0], 16;\n}" ::"r"(barrier)
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(to),
        "l"(at), "r"(barrier)
        : "memory");
    wait_for_phase(barrier, parity);
    parity ^= 1;
    asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(at) : "r"(to) : "memory");
  }
  __device__ std::uint32_t value() const { return static_cast<std::uint32_t>(at); }
};

// Two blocks of a cluster store into each other's shared memory, and each waits at its own mbarrier for what
// the other stored: a link is one way. Run by one lane of each block, between two barriers of the cluster.
struct remote_store {
  std::uint32_t barrier, there, their_barrier, parity = 0, v;
  __device__ explicit remote_store(const arguments& a) : v(a.input[threadIdx.x]) {
    extern __shared__ std::uint64_t pairs[];
    barrier = in_shared(pairs + 2);
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(in_shared(pairs)), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(their_barrier) : "r"(barrier), "r"(rank ^ 1));
  }
  __device__ void step() {
    asm volatile(
        "{\n .reg .b64 state;\n mbarrier.arrive.expect_tx.shared.b64 state, [%0], 4;\n}" ::"r"(barrier)
        : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(there),
                 "r"(v), "r"(their_barrier)
                 : "memory");
    wait_for_phase(barrier, parity);
    parity ^= 1;
  }
  __device__ std::uint32_t value() const { return v; }
};

__device__ __forceinline__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
}

// A chain of one lane's; and the same in each of two blocks of a cluster.
template <class Op, int Links>
__device__ __forceinline__ void one_lane(const arguments& a) {
  if (threadIdx.x == 0) chain<Op, Links>(a);
}
template <class Op, int Links>
__device__ __forceinline__ void two_blocks(const arguments& a) {
  extern __shared__ std::uint64_t pairs[];
  if (threadIdx.x == 0) init_mbarrier(in_shared(pairs + 2));
  meet_cluster();
  one_lane<Op, Links>(a);
  meet_cluster();
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// A warpgroup multiplies two matrices of halves in shared memory, 64 x 16 by 16 x 8 or 16 x 256. A link
// issues wgmma, commits it and waits for it; its 32-bit sums are the accumulator of the next. All elements
// are 0, so their layout does not matter.
template <int Columns>
struct warpgroup_multiply {
  static constexpr int sums = Columns / 2;
  float sum[sums];
  std::uint64_t matrix;
  __device__ explicit warpgroup_multiply(const arguments& a) {
    extern __shared__ std::uint32_t words[];
    for (std::uint32_t k = threadIdx.x; k < 16u * 256 / 2; k += blockDim.x) words[k] = 0;
    __syncthreads();
    asm volatile("fence.proxy.async;" ::: "memory");
    for (int k = 0; k < sums; ++k) sum[k] = static_cast<float>(a.input[threadIdx.x] + k);
    matrix = (in_shared(words) >> 4) | std::uint64_t{8} << 16 | std::uint64_t{16} << 32;
  }
  __device__ void step() {
    keep();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply();
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    keep();
  }
  __device__ std::uint32_t value() const { return __float_as_uint(sum[0]); }

 private:
  // Keeps the compiler from moving the sums to other registers while wgmma is adding to them.
  __device__ void keep() {
#pragma unroll
    for (int k = 0; k < sums; ++k) asm volatile("" : "+f"(sum[k])::"memory");
  }
  __device__ void multiply();
};
template <>
__device__ __forceinline__ void warpgroup_multiply<8>::multiply() {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "l"(matrix));
}
#define MGSYNC_4_SUMS(k) "+f"(sum[k]), "+f"(sum[(k) + 1]), "+f"(sum[(k) + 2]), "+f"(sum[(k) + 3])
#define MGSYNC_16_SUMS(k)                                                                                    \
  MGSYNC_4_SUMS(k), MGSYNC_4_SUMS((k) + 4), MGSYNC_4_SUMS((k) + 8), MGSYNC_4_SUMS((k) + 12)
#define MGSYNC_32_SUMS(k) MGSYNC_16_SUMS(k), MGSYNC_16_SUMS((k) + 16)
template <>
__device__ __forceinline__ void warpgroup_multiply<256>::multiply() {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "
      "%60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "
      "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, "
      "%117, %118, %119, "
      "%120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %128, 1, 1, 1, 0, 0;"
      : MGSYNC_32_SUMS(0), MGSYNC_32_SUMS(32), MGSYNC_32_SUMS(64), MGSYNC_32_SUMS(96)
      : "l"(matrix));
}
#endif

}  // namespace

#include "src/probes/catalogue/instructions.inc"
