#include "barriers/block/gpu_block.hpp"

#include <cooperative_groups.h>
#include <cuda/barrier>

#include "barriers/parts/round_loop/inner_rounds.hpp"
#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

// The hardware's barrier instruction cannot be given a time-out, so a wait here may never end.
struct block_pass {
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  struct arguments {
    unsigned unused = 0;
  };
};

struct syncthreads_pass : block_pass {
  __device__ syncthreads_pass(const arguments&, const round_loop::device_run&) {}
  __device__ bool operator()(std::uint32_t) {
    __syncthreads();
    return true;
  }
};

// One of the block's sixteen named barriers, for a number of threads that is given at run time.
struct named_pass : block_pass {
  unsigned threads;
  __device__ named_pass(const arguments&, const round_loop::device_run&) : threads(blockDim.x) {}
  __device__ bool operator()(std::uint32_t) {
    asm volatile("barrier.sync.aligned 1, %0;" ::"r"(threads) : "memory");
    return true;
  }
};

struct cooperative_pass : block_pass {
  __device__ cooperative_pass(const arguments&, const round_loop::device_run&) {}
  __device__ bool operator()(std::uint32_t) {
    cooperative_groups::this_thread_block().sync();
    return true;
  }
};

// A barrier in shared memory: every thread arrives, then polls until the phase is over.
struct mbarrier_pass : block_pass {
  std::uint32_t address = 0, parity = 0;
  __device__ mbarrier_pass(const arguments&, const round_loop::device_run&) {
#if __CUDA_ARCH__ >= 800
    __shared__ std::uint64_t barrier;
    address = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x) : "memory");
    __syncthreads();
#endif
  }
  __device__ bool operator()(std::uint32_t) {
#if __CUDA_ARCH__ >= 800
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address)
                 : "memory");
    std::uint32_t done = 0;
    while (done == 0)
      asm volatile(
          "{\n .reg .pred p;\n mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(address), "r"(parity)
          : "memory");
    parity ^= 1;
    return true;
#else
    return false;  // never launched there
#endif
  }
};

struct library_pass : block_pass {
  using barrier = ::cuda::barrier<::cuda::thread_scope_block>;
  barrier* shared = nullptr;
  __device__ library_pass(const arguments&, const round_loop::device_run&) {
    __shared__ alignas(8) unsigned char storage[sizeof(barrier)];
    shared = reinterpret_cast<barrier*>(storage);
    if (threadIdx.x == 0) init(shared, static_cast<std::ptrdiff_t>(blockDim.x));
    __syncthreads();
  }
  __device__ bool operator()(std::uint32_t) {
    shared->arrive_and_wait();
    return true;
  }
};

template <class Pass>
creation make(const topology::group& group, const configuration& wanted, session& where, std::string what) {
  const auto w = round_loop::request_of(group, wanted, where, "block");
  return round_loop::make_inner_barrier<Pass, 32>(w, std::move(what));
}

}  // namespace

namespace gpu_block {

creation syncthreads(const topology::group& group, const configuration& wanted, session& where) {
  return make<syncthreads_pass>(group, wanted, where, "__syncthreads");
}

creation named(const topology::group& group, const configuration& wanted, session& where) {
  return make<named_pass>(group, wanted, where, "barrier.sync with a name");
}

creation mbarrier(const topology::group& group, const configuration& wanted, session& where) {
  return make<mbarrier_pass>(group, wanted, where, "mbarrier, test_wait");
}

creation cuda_barrier(const topology::group& group, const configuration& wanted, session& where) {
  return make<library_pass>(group, wanted, where, "barrier of libcu++, arrive_and_wait");
}

creation cooperative_groups(const topology::group& group, const configuration& wanted, session& where) {
  return make<cooperative_pass>(group, wanted, where, "thread_block.sync");
}

}  // namespace gpu_block

}  // namespace mgsync
