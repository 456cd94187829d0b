// Your own barrier of GPUs on mgsync's bench: <mgsync/check.hpp> says what the struct has; here its functions
// are __device__, a worker is a block, and every thread of the block calls them. docs/check.md.
//
//     #include <mgsync/check.cuh>
//
//     struct counted {
//       static constexpr const char* name = "counted";
//       static constexpr std::size_t bytes = 4;
//       mgsync::check::position at;
//       __device__ bool arrive_and_wait() {
//         at.epoch += 1;
//         __syncthreads();
//         bool ok = true;
//         if (threadIdx.x == 0) {
//           __threadfence_system();
//           atomicAdd_system(at.part<unsigned>(0), 1u);
//           while (ok && *static_cast<volatile unsigned*>(at.part<unsigned>(0)) < at.epoch * at.workers)
//             ok = at.go_on();
//           __threadfence_system();
//         }
//         return __syncthreads_and(ok) != 0;
//       }
//     };
//     MGSYNC_CHECK_BARRIER(counted)
//
//     nvcc -std=c++17 -O3 -arch=sm_90 -shared -Xcompiler -fPIC -I PREFIX/include counted.cu -o counted.so
//
// Optional besides: how its kernel is launched, where a cooperative launch of a plain grid will not do:
//   static cudaError_t launch(const void* kernel, dim3 grid, dim3 block, void** arguments, cudaStream_t)
#pragma once

#if !defined(__CUDACC__)
#error                                                                                                       \
    "mgsync/check.cuh is device code: compile it with nvcc or clang; barriers of host threads include mgsync/check.hpp"
#endif

#include <cuda_runtime.h>

#include "barriers/library/include/mgsync/check.hpp"

#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/recorded_pass.hpp"

namespace mgsync { namespace check {

static_assert(kernel_arguments::most_members == round_loop::device_board::most_members,
              "as many members as mgsync's kernels know");

#pragma GCC visibility push(hidden)
namespace inside {

template <class B, bool Late>
class gpu_pass : passages<B, Late> {
 public:
  static constexpr bool bounded = gives_up<B>::value;
  static constexpr bool carries_sum = exchanges<B>::value;
  using arguments = kernel_arguments;

  __device__ gpu_pass(const arguments& given, const round_loop::device_run& run)
      : passages<B, Late>(position_of(given, run)) {}
  __device__ bool operator()(std::uint32_t) { return this->once(); }
  __device__ bool wrong_sum(std::uint32_t, std::uint32_t& expected, std::uint32_t& seen) {
    expected = this->expected();
    seen = this->seen();
    return expected != seen;
  }

 private:
  __device__ static position position_of(const arguments& given, const round_loop::device_run& run) {
    position at = given.at;
    at.member = run.member;
    at.members = run.members;
    at.block = blockIdx.x;
    at.blocks = run.board.blocks_of(run.member);
    at.workers = run.members * run.blocks;
    if (run.board.missing != 0)
      for (unsigned m = 0; m < run.members; ++m) at.workers -= run.blocks - run.board.blocks_of(m);
    at.epoch = run.epoch + given.epoch_ahead;
    at.parts = given.parts;
    // Cycles: of two a nanosecond, at most.
    at.ends = static_cast<std::uint64_t>(clock64()) + 2 * run.budget_ns;
    return at;
  }
};

template <class B>
const void* kernel_of(kernel what) {
  using eager = gpu_pass<B, false>;
  using late = gpu_pass<B, true>;
  switch (what) {
  case kernel::timed: return reinterpret_cast<const void*>(round_loop::timed_rounds<eager>);
  case kernel::checked: return reinterpret_cast<const void*>(round_loop::checked_rounds<late>);
  case kernel::recorded: return reinterpret_cast<const void*>(round_loop::recorded_rounds<eager>);
  }
  return nullptr;
}

// Two rounds around a word that a thread writes and one that it reads: `mgsync audit --model` finds it by its
// name in PTX, and asks about it. Never launched. ByBlock: the barrier orders blocks of equal number only.
// HostSays: it has start() or takes(), which PTX does not contain.
struct parts_of_members {
  void* of[round_loop::most_gpus];
};
template <class B, bool ByBlock, bool HostSays>
__global__ void asked_rounds(const __grid_constant__ parts_of_members parts, unsigned member,
                             unsigned members, unsigned blocks, unsigned* mine, const unsigned* theirs) {
  position at{};
  at.member = member;
  at.members = members;
  at.block = blockIdx.x;
  at.blocks = blocks;
  at.workers = members * blocks;
  at.streams = 1;
  at.parts = parts.of;
  at.ends = UINT64_MAX;
  B barrier{at};
  std::uint32_t seen = 0;
#pragma unroll
  for (unsigned round = 1; round <= 2; ++round) {
    asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(round) : "memory");
    if (!pass_once(barrier, 0, 0, seen)) return;
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(seen) : "l"(theirs) : "memory");
  }
  asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(3) : "memory");
}
template <class B>
constexpr bool orders_by_block() {
  if constexpr (has_orders<B>::value) return B::orders == extent::equal_blocks;
  else return false;
}

template <class B, class = void>
struct has_launch : std::false_type {};
template <class B>
struct has_launch<B, std::void_t<decltype(B::launch(static_cast<const void*>(nullptr), dim3(), dim3(),
                                                    static_cast<void**>(nullptr), cudaStream_t{}))>>
    : std::true_type {};

template <class B>
int launch(const launch_order* order) {
  const void* const kernel = kernel_of<B>(order->what);
  const auto stream = static_cast<cudaStream_t>(order->stream);
  if constexpr (has_launch<B>::value)
    return B::launch(kernel, dim3(order->blocks), dim3(order->threads), order->arguments, stream);
  else if (order->cooperative != 0)
    return cudaLaunchCooperativeKernel(kernel, dim3(order->blocks), dim3(order->threads), order->arguments, 0,
                                       stream);
  else
    return cudaLaunchKernel(kernel, dim3(order->blocks), dim3(order->threads), order->arguments, 0, stream);
}

template <class B>
int resident(kernel what, std::uint32_t threads, int* blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel_of<B>(what), static_cast<int>(threads),
                                                       0);
}

template <class B>
struct gpu_table {
  static const barrier_table* get() {
    static const barrier_table table = [] {
      barrier_table of = described<B>();
      of.on_gpu = 1;
      of.launch = launch<B>;
      of.resident = resident<B>;
      static_cast<void>(&asked_rounds < B, orders_by_block<B>(),
                        has_start<B>::value || has_takes<B>::value >);
      return of;
    }();
    return &table;
  }
};

}  // namespace inside
#pragma GCC visibility pop
}}  // namespace mgsync::check

#undef MGSYNC_CHECK_BARRIER
#define MGSYNC_CHECK_BARRIER(...)                                                                            \
  extern "C" __attribute__((visibility("default"))) const ::mgsync::check::file_table* mgsync_check_file() { \
    return ::mgsync::check::inside::file_of<::mgsync::check::inside::gpu_table,                              \
                                            sizeof(::mgsync::round_loop::device_run), __VA_ARGS__>();        \
  }
