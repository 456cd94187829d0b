// Probes of a block's barriers (000 section V-B, figure 4; 001 table 5): bar.sync, named barriers, a
// hand-over between two warps, barriers that reduce, barriers in shared memory.
#include <cuda/barrier>

#include "src/probes/probe_kernels.hpp"

namespace {

using namespace mgsync::probes;

struct block_sync : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() { __syncthreads(); }
};

// A named barrier, for a number of threads that is known at run time only.
struct named_sync : word_per_lane {
  std::uint32_t threads;
  __device__ explicit named_sync(const arguments& a) : word_per_lane(a), threads(blockDim.x) {}
  __device__ void step() { asm volatile("barrier.sync.aligned 1, %0;" ::"r"(threads) : "memory"); }
};

// Barriers that reduce a predicate, whose result each thread combines with its own number.
#define MGSYNC_REDUCING_BARRIER(name, call)                                                                  \
  struct name : word_per_lane {                                                                              \
    using word_per_lane::word_per_lane;                                                                      \
    __device__ void step() { v = static_cast<std::uint32_t>(call(static_cast<int>(v & 1))) + threadIdx.x; }  \
  };
MGSYNC_REDUCING_BARRIER(barrier_popc, __syncthreads_count)
MGSYNC_REDUCING_BARRIER(barrier_and, __syncthreads_and)
MGSYNC_REDUCING_BARRIER(barrier_or, __syncthreads_or)

// A hand-over between two warps and back: the first arrives at one named barrier and waits at the other. A
// link is a round trip.
struct hand_over : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() {
    asm volatile("barrier.arrive.aligned 1, 64;\n barrier.sync.aligned 2, 64;" ::: "memory");
  }
  __device__ void other_step() {
    asm volatile("barrier.sync.aligned 1, 64;\n barrier.arrive.aligned 2, 64;" ::: "memory");
  }
};

#if __CUDA_ARCH__ >= 800
// An mbarrier of all threads: arrive, then poll until the phase has ended.
template <bool TryWait>
struct shared_barrier : word_per_lane {
  std::uint32_t address;
  std::uint32_t parity = 0;
  __device__ explicit shared_barrier(const arguments& a) : word_per_lane(a) {
    __shared__ std::uint64_t barrier;
    address = in_shared(&barrier);
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x) : "memory");
    __syncthreads();
  }
  __device__ void step() {
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address)
                 : "memory");
    if constexpr (TryWait) {
#if __CUDA_ARCH__ >= 900
      asm volatile("{\n .reg .pred done;\nAGAIN:\n mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n "
                   "@!done bra AGAIN;\n}" ::"r"(address),
                   "r"(parity)
                   : "memory");
#endif
    } else {
      asm volatile("{\n .reg .pred done;\nAGAIN:\n mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n "
                   "@!done bra AGAIN;\n}" ::"r"(address),
                   "r"(parity)
                   : "memory");
    }
    parity ^= 1;
  }
};

struct library_barrier : word_per_lane {
  cuda::barrier<cuda::thread_scope_block>* barrier;
  __device__ explicit library_barrier(const arguments& a) : word_per_lane(a) {
    __shared__ alignas(8) unsigned char storage[sizeof(cuda::barrier<cuda::thread_scope_block>)];
    barrier = reinterpret_cast<cuda::barrier<cuda::thread_scope_block>*>(storage);
    if (threadIdx.x == 0) init(barrier, static_cast<std::ptrdiff_t>(blockDim.x));
    __syncthreads();
  }
  __device__ void step() { barrier->arrive_and_wait(); }
};
#endif

#if __CUDA_ARCH__ >= 900
// An mbarrier whose phase ends once the expected bytes have arrived: the first thread sets how many bytes are
// expected and has them sent, and all threads wait.
enum class sent_by { the_thread, a_store, a_copy };
template <sent_by By>
struct transaction_barrier : word_per_lane {
  static constexpr std::uint32_t bytes = By == sent_by::a_copy ? 16 : 4;
  std::uint32_t address, there, payload;
  std::uint64_t from;
  std::uint32_t parity = 0, sends;
  __device__ explicit transaction_barrier(const arguments& a)
      : word_per_lane(a), from(0), sends(threadIdx.x == 0 ? 1 : 0) {
    __shared__ std::uint64_t barrier;
    __shared__ alignas(16) std::uint32_t arrives_here[4];
    address = in_shared(&barrier);
    payload = in_shared(arrives_here);
    there = address;
    if constexpr (By == sent_by::a_store) {  // st.async takes shared::cluster addresses
      asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(address));
      asm volatile("mapa.shared::cluster.u32 %0, %0, 0;" : "+r"(payload));
    }
    asm volatile("cvta.to.global.u64 %0, %1;" : "=l"(from) : "l"(a.memory));
    if (sends != 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address) : "memory");
    __syncthreads();
  }
  // Predicated instead of branched: to reconverge the warp after a branch takes two more instructions.
  __device__ void send() {
    asm volatile("{\n .reg .pred mine;\n setp.ne.u32 mine, %2, 0;\n @mine "
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;\n}" ::"r"(address),
                 "n"(bytes), "r"(sends)
                 : "memory");
    if constexpr (By == sent_by::the_thread)
      asm volatile("{\n .reg .pred mine;\n setp.ne.u32 mine, %2, 0;\n @mine "
                   "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;\n}" ::"r"(address),
                   "n"(bytes), "r"(sends)
                   : "memory");
    else if constexpr (By == sent_by::a_store)
      asm volatile(
          "{\n .reg .pred mine;\n setp.ne.u32 mine, %3, 0;\n @mine "
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];\n}" ::"r"(payload),
          "r"(v), "r"(there), "r"(sends)
          : "memory");
    else
      asm volatile(
          "{\n .reg .pred mine;\n setp.ne.u32 mine, %4, 0;\n @mine "
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n}" ::"r"(
              payload),
          "l"(from), "n"(bytes), "r"(address), "r"(sends)
          : "memory");
  }
  __device__ void step() {
    send();
    asm volatile("{\n .reg .pred done;\nAGAIN:\n mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n "
                 "@!done bra AGAIN;\n}" ::"r"(address),
                 "r"(parity)
                 : "memory");
    parity ^= 1;
  }
};
#endif

// A chain of the first warp's, whose links the second one answers.
template <class Op, int Links>
__device__ __forceinline__ void two_warps(const arguments& a) {
  if (threadIdx.x < 32) {
    chain<Op, Links>(a);
    return;
  }
  Op op(a);
  const std::uint32_t passes = a.passes;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
#pragma unroll
    for (int step = 0; step < Links; ++step) op.other_step();
  }
}

}  // namespace

#include "src/probes/catalogue/block.inc"
