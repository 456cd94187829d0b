// Single instructions that move data or wait for it (paper 002; docs/studies/timeline.md): each as a chain,
// whose slope is its latency, once between two clock reads, and once as the compiler leaves it; and pairs of
// different ones side by side. What the study levels has as chains (loads, shuffles, atomics, votes, other
// blocks' shared memory) is not chained here.
#include "src/studies/timeline/region_frame.cuh"

namespace {

using mgsync::probes::arguments;
using mgsync::timelines::places;
using mgsync::timelines::shared_load;

__device__ __forceinline__ std::uint32_t in_shared(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

// An empty operation, which times the two clock reads themselves.
struct nothing_at_all {
  std::uint32_t v;
  __device__ explicit nothing_at_all(const arguments& a) : v(a.input[threadIdx.x]) {}
  __device__ void step() {}
  __device__ std::uint32_t value() const { return v; }
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

template <int Steps>
__device__ __forceinline__ void remote_stores(const arguments& a) {
  extern __shared__ std::uint64_t pairs[];
  if (threadIdx.x == 0) init_mbarrier(in_shared(pairs + 2));
  meet_cluster();
  if (threadIdx.x == 0) mgsync::probes::timed_chain<remote_store, Steps>(a);
  meet_cluster();
}

// One lane alone runs the probe.
template <class Op, int Steps>
__device__ __forceinline__ void by_one_lane(const arguments& a) {
  if (threadIdx.x == 0) mgsync::probes::timed_chain<Op, Steps>(a);
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
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
        "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]),
        "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
        "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]),
        "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
        "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]),
        "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]),
        "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]), "+f"(sum[49]),
        "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
        "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]),
        "+f"(sum[62]), "+f"(sum[63]), "+f"(sum[64]), "+f"(sum[65]), "+f"(sum[66]), "+f"(sum[67]),
        "+f"(sum[68]), "+f"(sum[69]), "+f"(sum[70]), "+f"(sum[71]), "+f"(sum[72]), "+f"(sum[73]),
        "+f"(sum[74]), "+f"(sum[75]), "+f"(sum[76]), "+f"(sum[77]), "+f"(sum[78]), "+f"(sum[79]),
        "+f"(sum[80]), "+f"(sum[81]), "+f"(sum[82]), "+f"(sum[83]), "+f"(sum[84]), "+f"(sum[85]),
        "+f"(sum[86]), "+f"(sum[87]), "+f"(sum[88]), "+f"(sum[89]), "+f"(sum[90]), "+f"(sum[91]),
        "+f"(sum[92]), "+f"(sum[93]), "+f"(sum[94]), "+f"(sum[95]), "+f"(sum[96]), "+f"(sum[97]),
        "+f"(sum[98]), "+f"(sum[99]), "+f"(sum[100]), "+f"(sum[101]), "+f"(sum[102]), "+f"(sum[103]),
        "+f"(sum[104]), "+f"(sum[105]), "+f"(sum[106]), "+f"(sum[107]), "+f"(sum[108]), "+f"(sum[109]),
        "+f"(sum[110]), "+f"(sum[111]), "+f"(sum[112]), "+f"(sum[113]), "+f"(sum[114]), "+f"(sum[115]),
        "+f"(sum[116]), "+f"(sum[117]), "+f"(sum[118]), "+f"(sum[119]), "+f"(sum[120]), "+f"(sum[121]),
        "+f"(sum[122]), "+f"(sum[123]), "+f"(sum[124]), "+f"(sum[125]), "+f"(sum[126]), "+f"(sum[127])
      : "l"(matrix));
}
#endif

// The operation once between two clock reads, corrected or as the compiler leaves them.
template <class Op, bool Corrected>
__device__ __forceinline__ void once(const arguments& a) {
  Op op(a);
  const std::uint32_t warps = gridDim.x * ((blockDim.x + 31) / 32),
                      warp = blockIdx.x * ((blockDim.x + 31) / 32) + threadIdx.x / 32;
  const std::uint32_t never = a.held->never, sm_before = mgsync::probes::this_sm(), passes = a.passes;
  std::uint64_t begin = 0, end = 0;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    __syncwarp();
    begin = Corrected ? mgsync::probes::clock_after(op.value(), never) : mgsync::probes::clock_now();
    op.step();
    end = Corrected ? mgsync::probes::clock_after(op.value(), never) : mgsync::probes::clock_now();
    const auto behind = static_cast<std::uint32_t>(end >> 63);
    a.stamps[static_cast<std::size_t>(pass + behind) * warps + warp + behind] = {begin, end};
  }
  const auto behind = static_cast<std::uint32_t>(end >> 63);
  a.sms[warp + behind] = sm_before;
  a.sms[warps + warp + behind] = mgsync::probes::this_sm();
  a.output[threadIdx.x + behind] = op.value();
}

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

template <class A>
struct alone : places_and_global {
  std::uint32_t first;
  __device__ __forceinline__ void run() { first = A::of(*this); }
  // The result is combined with a word just as the two results of a pair are, so that this costs the same in
  // every kernel.
  __device__ __forceinline__ std::uint32_t value() const { return first ^ store_at; }
};
template <class A, class B>
struct beside : places_and_global {
  std::uint32_t first, second;
  __device__ __forceinline__ void run() {
    first = A::of(*this);
    second = B::of(*this);
  }
  __device__ __forceinline__ std::uint32_t value() const { return first ^ second; }
};

}  // namespace

#define MGSYNC_ONCE(name, Op)                                                                                \
  extern "C" __global__ void name##_once(const __grid_constant__ arguments a) { once<Op, true>(a); }         \
  extern "C" __global__ void name##_as_compiled(const __grid_constant__ arguments a) { once<Op, false>(a); }
// Defines the kernels of one instruction: its chains, its single shot and the twin of that.
#define MGSYNC_INSTRUCTION(name, Op) MGSYNC_PROBE_SHORT_SLOPE(name, Op) MGSYNC_ONCE(name, Op)
MGSYNC_ONCE(nothing, nothing_at_all)
MGSYNC_INSTRUCTION(store_load, store_load)
MGSYNC_INSTRUCTION(store_barrier_load, store_barrier_load)
MGSYNC_PROBE_SHORT_SLOPE(store_issue, store_issue)
MGSYNC_INSTRUCTION(bank_conflict, bank_conflict)
MGSYNC_INSTRUCTION(constant_chase, constant_chase)
MGSYNC_INSTRUCTION(matrix_load, matrix_load)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MGSYNC_INSTRUCTION(matrix_multiply, matrix_multiply)
MGSYNC_INSTRUCTION(copy_8_bytes, asynchronous_copy<8>)
MGSYNC_INSTRUCTION(copy_16_bytes, asynchronous_copy<16>)
#endif
#if __CUDA_ARCH__ >= 900
#define MGSYNC_ONE_LANE(name, Op, steps)                                                                     \
  extern "C" __global__ void name##_##steps(const __grid_constant__ arguments a) {                           \
    by_one_lane<Op, steps>(a);                                                                               \
  }
#define MGSYNC_TWO_BLOCKS(steps)                                                                             \
  extern "C" __global__ void __cluster_dims__(2, 1, 1)                                                       \
      remote_store_##steps(const __grid_constant__ arguments a) {                                            \
    remote_stores<steps>(a);                                                                                 \
  }
MGSYNC_ONE_LANE(bulk_copy, bulk_copy, 4)
MGSYNC_ONE_LANE(bulk_copy, bulk_copy, 8)
MGSYNC_ONE_LANE(bulk_copy, bulk_copy, 16)
MGSYNC_ONE_LANE(bulk_copy, bulk_copy, 32)
MGSYNC_TWO_BLOCKS(4)
MGSYNC_TWO_BLOCKS(8)
MGSYNC_TWO_BLOCKS(16)
MGSYNC_TWO_BLOCKS(32)
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
MGSYNC_PROBE_SHORT_SLOPE(warpgroup_multiply_8, warpgroup_multiply<8>)
MGSYNC_PROBE_SHORT_SLOPE(warpgroup_multiply_256, warpgroup_multiply<256>)
#endif

MGSYNC_REGION(pair_chased_loads_4, mgsync::timelines::chased_loads<4>, true)
MGSYNC_REGION(pair_chased_loads_32, mgsync::timelines::chased_loads<32>, true)
#define MGSYNC_ALONE(a) MGSYNC_REGION(alone_##a, alone<by_##a>, true)
#define MGSYNC_BESIDE(a, b)                                                                                  \
  using a##_and_##b = beside<by_##a, by_##b>;                                                                \
  MGSYNC_REGION(a##_beside_##b, a##_and_##b, true)
MGSYNC_ALONE(lds)
MGSYNC_ALONE(shfl)
MGSYNC_ALONE(ldg)
MGSYNC_ALONE(mufu)
MGSYNC_ALONE(atoms)
MGSYNC_ALONE(popc)
MGSYNC_BESIDE(lds, shfl)
MGSYNC_BESIDE(lds, ldg)
MGSYNC_BESIDE(lds, mufu)
MGSYNC_BESIDE(lds, atoms)
MGSYNC_BESIDE(lds, popc)
MGSYNC_BESIDE(shfl, ldg)
MGSYNC_BESIDE(shfl, mufu)
MGSYNC_BESIDE(shfl, atoms)
MGSYNC_BESIDE(shfl, popc)
MGSYNC_BESIDE(ldg, mufu)
MGSYNC_BESIDE(ldg, atoms)
MGSYNC_BESIDE(ldg, popc)
MGSYNC_BESIDE(mufu, atoms)
MGSYNC_BESIDE(mufu, popc)
MGSYNC_BESIDE(atoms, popc)
