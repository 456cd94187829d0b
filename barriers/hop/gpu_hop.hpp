// The pieces of barriers between GPUs.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

support gpu_hop_can_run(const topology::machine&, const topology::group&);

namespace gpu_hop {

make_function release_acquire, relaxed, fence_system, fence_gpu, arrival, grid;

}  // namespace gpu_hop

}  // namespace mgsync
