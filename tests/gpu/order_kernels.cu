// One barrier per kernel, sound and weakened: what the test of the machine code's order looks at. Never run.
// The sync() is the library's own, for a handle whose shape is known, so that the text shows which way is
// taken; the backends' policy stands beside it.
#include <type_traits>

#include <mgsync/multi_grid.cuh>

#include "barriers/parts/algorithm/cuda_policy.hpp"

namespace {

using namespace mgsync;
using algorithm::multi_grid_policy;
using algorithm::multi_grid_policy_with_word;
namespace ptx = algorithm::ptx;

struct no_release : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ void fence_release_system() const {}
};
struct narrow_release : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ void fence_release_system() const { ptx::fence_release<ptx::scope::gpu>(); }
};
struct no_acquire : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ void fence_polled_system() const {}
};
// The same on every architecture: polls that are no acquire, and no fence behind them.
struct relaxed_polls : no_acquire {
  using no_acquire::no_acquire;
  __device__ __forceinline__ unsigned await(word* polled, word target, word) const {
    while (!all(algorithm::reached(ptx::load_relaxed<ptx::scope::system>(polled), target))) {}
    return 0;
  }
};
struct no_acquire_of_the_counter : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ void fence_polled_local() const {}
};
struct no_team_barrier : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ void sync_team() const {}
};
struct no_arrival_release : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ void fence_release_local() const {}
  __device__ __forceinline__ word fetch_add_release_local(word& w, word v) const {
    return fetch_add_polled_local(w, v);
  }
};
struct no_block_barrier : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ void sync() const {}
};

template <class Group>
__device__ __forceinline__ void one_barrier_of(Group&& grids, bool two_calls, unsigned* payload) {
  if (!grids.is_valid()) return;
  asm volatile("st.global.u32 [%0], %1;  // written" ::"l"(payload + 1), "r"(1) : "memory");
  if (two_calls) grids.barrier_wait(grids.barrier_arrive());
  else grids.sync();
  // What the barrier is for: an ordinary access behind it.
  asm volatile("ld.global.u32 %0, [%1];  // payload" : "=r"(*payload) : "l"(payload) : "memory");
}
template <class Policy>
__device__ __forceinline__ void one_barrier(multi_grid_handle handle, unsigned gpus, unsigned algorithm,
                                            unsigned counters, bool one_block, bool two_calls,
                                            unsigned* payload) {
  handle.gpus = gpus;
  handle.algorithm = algorithm;
  handle.counters = counters;
  if (one_block) handle.blocks = 1;
  if constexpr (std::is_same_v<typename Policy::verdict, algorithm::told_by_barrier>) {
    one_barrier_of(multi_grid_group_over<Policy>(handle), two_calls, payload);
  } else {
    __shared__ std::uint32_t word;
    one_barrier_of(multi_grid_group_over<Policy>(handle, word), two_calls, payload);
  }
}

constexpr unsigned relay = multi_grid_handle::relay, counter = multi_grid_handle::counter;

}  // namespace

// NAME(policy, GPUs, algorithm, counters, one block): in one call, and in two.
#define MGSYNC_ORDER_KERNEL(NAME, POLICY, GPUS, ALGORITHM, COUNTERS, ONE_BLOCK)                              \
  extern "C" __global__ void NAME(multi_grid_handle handle, unsigned* payload) {                             \
    one_barrier<POLICY>(handle, GPUS, ALGORITHM, COUNTERS, ONE_BLOCK, false, payload);                       \
  }                                                                                                          \
  extern "C" __global__ void NAME##_in_two(multi_grid_handle handle, unsigned* payload) {                    \
    one_barrier<POLICY>(handle, GPUS, ALGORITHM, COUNTERS, ONE_BLOCK, true, payload);                        \
  }
// Every shape of a policy.
#define MGSYNC_ORDER_KERNELS(POLICY)                                                                         \
  MGSYNC_ORDER_KERNEL(POLICY##_system_one_block, POLICY, 4, relay, 1, true)                                  \
  MGSYNC_ORDER_KERNEL(POLICY##_system_counted, POLICY, 4, relay, 1, false)                                   \
  MGSYNC_ORDER_KERNEL(POLICY##_system_spread, POLICY, 4, relay, 32, false)                                   \
  MGSYNC_ORDER_KERNEL(POLICY##_alone_counted, POLICY, 1, relay, 1, false)                                    \
  MGSYNC_ORDER_KERNEL(POLICY##_alone_spread, POLICY, 1, relay, 32, false)                                    \
  MGSYNC_ORDER_KERNEL(POLICY##_alone_counter, POLICY, 1, counter, 16, false)

MGSYNC_ORDER_KERNELS(multi_grid_policy)
MGSYNC_ORDER_KERNELS(multi_grid_policy_with_word)
MGSYNC_ORDER_KERNELS(no_release)
MGSYNC_ORDER_KERNELS(narrow_release)
MGSYNC_ORDER_KERNELS(no_acquire)
MGSYNC_ORDER_KERNELS(relaxed_polls)
MGSYNC_ORDER_KERNELS(no_acquire_of_the_counter)
MGSYNC_ORDER_KERNELS(no_team_barrier)
MGSYNC_ORDER_KERNELS(no_arrival_release)
MGSYNC_ORDER_KERNELS(no_block_barrier)

// Two polls in a turn of the loop: what the test of the loops must notice.
struct polls_twice : multi_grid_policy {
  using multi_grid_policy::multi_grid_policy;
  __device__ __forceinline__ unsigned await(word* polled, word target, word) const {
    const auto here = [&] {
      return all_reached<algorithm::polling::inbox, 1>([&](unsigned) {
        return algorithm::polled_word<word>{polled, target};
      });
    };
#pragma unroll 1
    for (unsigned polls = 0; polls < polls_per_look; ++polls)
      if (here() || here()) return 0;
    return 1;
  }
};

// The sync() of a handle that is not known, as often as that: how many polling loops there are, and
// registers.
template <unsigned Calls, class Group>
__device__ __forceinline__ void calls_of(Group&& grids, unsigned turns) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    if (!grids.sync()) return;
    if constexpr (Calls > 1)
      if (!grids.sync()) return;
    if constexpr (Calls > 2)
      if (!grids.sync()) return;
  }
}
template <unsigned Calls, class Policy = multi_grid_policy>
__device__ __forceinline__ void calls(const multi_grid_handle& handle, unsigned turns) {
  calls_of<Calls>(multi_grid_group_over<Policy>(handle), turns);
}
template <unsigned Calls>
__device__ __forceinline__ void calls_with_word(const multi_grid_handle& handle, unsigned turns) {
  __shared__ std::uint32_t word;
  calls_of<Calls>(multi_grid_group_with_word(handle, word), turns);
}
extern "C" __global__ void one_call_with_word(multi_grid_handle handle, unsigned turns) {
  calls_with_word<1>(handle, turns);
}
extern "C" __global__ void two_calls_with_word(multi_grid_handle handle, unsigned turns) {
  calls_with_word<2>(handle, turns);
}
extern "C" __global__ void three_calls_with_word(multi_grid_handle handle, unsigned turns) {
  calls_with_word<3>(handle, turns);
}
extern "C" __global__ void one_call(multi_grid_handle handle, unsigned turns) { calls<1>(handle, turns); }
extern "C" __global__ void two_calls(multi_grid_handle handle, unsigned turns) { calls<2>(handle, turns); }
extern "C" __global__ void three_calls(multi_grid_handle handle, unsigned turns) { calls<3>(handle, turns); }
// A group that a function is passed which is not inlined.
__device__ __noinline__ bool step_of(multi_grid_group& grids, unsigned* data) {
  data[threadIdx.x] += 1;
  return grids.sync();
}
extern "C" __global__ void by_reference(const __grid_constant__ multi_grid_handle handle, unsigned* data) {
  multi_grid_group grids(handle);
  if (step_of(grids, data)) step_of(grids, data + 1);
}
extern "C" __global__ void one_call_polls_twice(multi_grid_handle handle, unsigned turns) {
  calls<1, polls_twice>(handle, turns);
}

// The policy of the backends' rounds.
using backend_policy = algorithm::cuda_policy<ptx::scope::system>;
struct backend_no_release : backend_policy {
  using backend_policy::backend_policy;
  __device__ void fence_release_system() const {}
};
struct backend_narrow_release : backend_policy {
  using backend_policy::backend_policy;
  __device__ void fence_release_system() const { ptx::fence_release<ptx::scope::gpu>(); }
};
struct backend_no_acquire : backend_policy {
  using backend_policy::backend_policy;
  __device__ void fence_polled_system() const {}
};
template <class Policy>
__device__ __forceinline__ void one_relay(const algorithm::cuda_lines& lines, std::uint32_t epoch,
                                          algorithm::cuda_limits limits, unsigned counters,
                                          unsigned* payload) {
  algorithm::relay<Policy, const algorithm::cuda_lines> barrier(Policy(limits), lines,
                                                                {0, 4, blockIdx.x, gridDim.x}, {counters, 8});
  asm volatile("st.global.u32 [%0], %1;  // written" ::"l"(payload + 1), "r"(1) : "memory");
  barrier.arrive_and_wait(epoch);
  asm volatile("ld.global.u32 %0, [%1];  // payload" : "=r"(*payload) : "l"(payload) : "memory");
}
#define MGSYNC_BACKEND_KERNEL(POLICY, SHAPE, COUNTERS)                                                       \
  extern "C" __global__ void POLICY##_##SHAPE(const __grid_constant__ algorithm::cuda_lines lines,           \
                                              std::uint32_t epoch, algorithm::cuda_limits limits,            \
                                              unsigned* payload) {                                           \
    one_relay<POLICY>(lines, epoch, limits, COUNTERS, payload);                                              \
  }
MGSYNC_BACKEND_KERNEL(backend_policy, system_counted, 1)
MGSYNC_BACKEND_KERNEL(backend_policy, system_spread, 32)
MGSYNC_BACKEND_KERNEL(backend_no_release, system_counted, 1)
MGSYNC_BACKEND_KERNEL(backend_narrow_release, system_counted, 1)
MGSYNC_BACKEND_KERNEL(backend_no_acquire, system_counted, 1)
extern "C" __global__ void backend_policy_alone_counter(const __grid_constant__ algorithm::cuda_lines lines,
                                                        std::uint32_t epoch, algorithm::cuda_limits limits,
                                                        unsigned* payload) {
  using policy = algorithm::cuda_policy<ptx::scope::gpu>;
  algorithm::spread_counter<policy, const algorithm::cuda_lines> barrier(
      policy(limits), lines, {0, 1, blockIdx.x, gridDim.x}, {16, 8, 0});
  asm volatile("st.global.u32 [%0], %1;  // written" ::"l"(payload + 1), "r"(1) : "memory");
  barrier.arrive_and_wait(epoch);
  asm volatile("ld.global.u32 %0, [%1];  // payload" : "=r"(*payload) : "l"(payload) : "memory");
}
