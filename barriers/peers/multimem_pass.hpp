// The multimem form on GPUs. C++17.
#pragma once

#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/peers/multimem.hpp"

namespace mgsync::peers {

// Lines whose counters can also be reached all at once, through the multicast address of their memory.
struct multicast_lines : algorithm::cuda_lines {
  std::uint32_t* all;

  template <class P>
  __device__ __forceinline__ void add_everywhere(const P&, unsigned index) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(
                     all + index * (algorithm::line_bytes / sizeof(std::uint32_t))),
                 "r"(1)
                 : "memory");
#else
    __trap();  // compute capability 9.0 and later
#endif
  }
};

class multimem_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = multicast_lines;

  __device__ __forceinline__ multimem_pass(const arguments& lines, const round_loop::device_run& run)
      : policy_(round_loop::limits_of(run)), lines_(lines), at_(round_loop::position_in(run)) {}
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    return multimem::arrive_and_wait(policy_, lines_, at_, epoch);
  }

 private:
  algorithm::cuda_policy<algorithm::ptx::scope::system> policy_;
  const arguments& lines_;
  algorithm::position at_;
};

}  // namespace mgsync::peers
