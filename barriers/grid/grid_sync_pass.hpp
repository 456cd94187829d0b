// One round of the grid barrier of cooperative groups, as a pass of the device round loop. C++17.
#pragma once

#include <cstdint>

#include <cooperative_groups.h>

#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync {

// cooperative_groups' grid.sync: its counter lies in the driver's memory, and its wait has no time-out.
class grid_sync_pass {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  struct arguments {
    unsigned unused;
  };
  __device__ grid_sync_pass(const arguments&, const round_loop::device_run&)
      : grid_(cooperative_groups::this_grid()) {}
  __device__ bool operator()(std::uint32_t) {
    grid_.sync();
    return true;
  }

 private:
  cooperative_groups::grid_group grid_;
};

}  // namespace mgsync
