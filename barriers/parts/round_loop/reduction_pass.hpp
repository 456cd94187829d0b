// One round of an all-reduce on GPUs, as a pass of the device round loop. C++17.
#pragma once

#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"

namespace mgsync::round_loop {

// Every block contributes its number plus three times the epoch, so the total is known and fresh in every
// round.
template <class Algorithm, algorithm::ptx::scope Widest>
class reduction_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = true;
  using arguments = algorithm::cuda_lines;

  __device__ reduction_pass(const arguments& lines, const device_run& run)
      : policy_(limits_of(run)), lines_(lines), at_(position_in(run)) {}
  __device__ bool operator()(std::uint32_t epoch) {
    const std::uint32_t mine = at_.member * at_.blocks + at_.block + 3 * epoch;
    return Algorithm::all_reduce(policy_, lines_, at_, epoch, mine, total_);
  }
  // The total is known to the team.
  __device__ bool wrong_sum(std::uint32_t epoch, std::uint32_t& expected, std::uint32_t& seen) const {
    const std::uint32_t workers = at_.members * at_.blocks;
    expected = static_cast<std::uint32_t>(std::uint64_t{workers} * (workers - 1) / 2) + 3 * epoch * workers;
    seen = total_;
    return threadIdx.x < 32 && seen != expected;
  }

 private:
  algorithm::cuda_policy<Widest> policy_;
  const arguments& lines_;
  algorithm::position at_;
  std::uint32_t total_ = 0;
};

}  // namespace mgsync::round_loop
