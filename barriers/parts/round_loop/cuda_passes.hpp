// The algorithms of barriers/parts/algorithm as passes of the device round loop: what their kernels take, and
// one round. C++17.
#pragma once

#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/algorithm/layout.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"
#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync::round_loop {

__device__ inline algorithm::position position_in(const device_run& run) {
  return {run.member, run.members, blockIdx.x, run.blocks};
}
__device__ inline algorithm::cuda_limits limits_of(const device_run& run) {
  return {run.abort, run.budget_ns};
}

// An algorithm without a state of its own, over lines in GPU memory.
template <class Algorithm, algorithm::ptx::scope Widest, class Policy = algorithm::cuda_policy<Widest>>
class stateless_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = algorithm::cuda_lines;

  __device__ __forceinline__ stateless_pass(const arguments& lines, const device_run& run)
      : policy_(limits_of(run)), lines_(lines), at_(position_in(run)) {}
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    return Algorithm::arrive_and_wait(policy_, lines_, at_, epoch);
  }

 private:
  Policy policy_;
  const arguments& lines_;
  algorithm::position at_;
};

// Lines that cross GPUs in host memory, all others in GPU memory.
struct host_flag_lines {
  algorithm::cuda_lines gpu;
  algorithm::cuda_lines host;

  __device__ __forceinline__ std::uint32_t& line(unsigned member, unsigned index) const {
    return index >= algorithm::layout{0}.inbox(0) ? host.line(member, index) : gpu.line(member, index);
  }
};

template <class Algorithm, class Policy = algorithm::cuda_policy<algorithm::ptx::scope::system>>
class host_flags_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = host_flag_lines;

  __device__ __forceinline__ host_flags_pass(const arguments& lines, const device_run& run)
      : policy_(limits_of(run)), lines_(lines), at_(position_in(run)) {}
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    return Algorithm::arrive_and_wait(policy_, lines_, at_, epoch);
  }

 private:
  Policy policy_;
  const arguments& lines_;
  algorithm::position at_;
};

template <class Shape>
struct shaped_arguments {
  algorithm::cuda_lines lines;
  Shape shape;
};

// An algorithm object that computes its addresses once.
template <class Algorithm, class Policy, class Shape>
class shaped_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = shaped_arguments<Shape>;

  __device__ __forceinline__ shaped_pass(const arguments& given, const device_run& run)
      : algorithm_(Policy(limits_of(run)), given.lines, position_in(run), given.shape) {}
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    return algorithm_.arrive_and_wait(epoch);
  }

 private:
  Algorithm algorithm_;
};

template <algorithm::ptx::scope Widest, class Policy = algorithm::cuda_policy<Widest>>
using relay_pass =
    shaped_pass<algorithm::relay<Policy, const algorithm::cuda_lines>, Policy, algorithm::relay_shape>;
using counter_policy = algorithm::cuda_policy<algorithm::ptx::scope::gpu>;
using spread_counter_pass =
    shaped_pass<algorithm::spread_counter<counter_policy, const algorithm::cuda_lines>, counter_policy,
                algorithm::spread_shape>;

}  // namespace mgsync::round_loop
