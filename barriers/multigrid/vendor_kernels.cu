// NVIDIA's multi-grid barrier in the device round loop. Compiled on its own by an nvcc older than 13 (C++17,
// -rdc=true, device-linked with cudadevrt) into the cubin that vendor.cpp loads; no part of the program
// itself.
#include <cooperative_groups.h>

#include "barriers/parts/round_loop/device_rounds.hpp"

namespace {

using mgsync::round_loop::device_run;

class vendor_pass {
 public:
  static constexpr bool bounded = false;  // the vendor's waits have no time-out
  static constexpr bool carries_sum = false;
  struct arguments {
    unsigned unused;
  };
  __device__ vendor_pass(const arguments&, const device_run&)
      : grids_(cooperative_groups::this_multi_grid()) {}
  __device__ bool operator()(std::uint32_t) {
    grids_.sync();
    return true;
  }

 private:
  cooperative_groups::multi_grid_group grids_;  // asked for once: that is a call into the driver's code
};

}  // namespace

// What the loader compares with its own, so that a cubin of another version is refused.
extern "C" __device__ const unsigned mgsync_vendor_abi = sizeof(device_run);

extern "C" __global__ void __launch_bounds__(mgsync::round_loop::most_threads,
                                             mgsync::round_loop::resident_at_most_threads)
    mgsync_vendor_timed(const __grid_constant__ device_run run,
                        const __grid_constant__ vendor_pass::arguments given) {
  mgsync::round_loop::run_timed<vendor_pass>(run, given);
}

extern "C" __global__ void __launch_bounds__(mgsync::round_loop::most_threads,
                                             mgsync::round_loop::resident_at_most_threads)
    mgsync_vendor_checked(const __grid_constant__ device_run run,
                          const __grid_constant__ vendor_pass::arguments given, unsigned first_phase) {
  mgsync::round_loop::run_checked<mgsync::round_loop::block_team, vendor_pass>(run, given, first_phase);
  mgsync::round_loop::tell_shape(run);
}
