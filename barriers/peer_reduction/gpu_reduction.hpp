// The reduction on GPU members: by all blocks of one kernel per GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

support gpu_reduction_can_run(const topology::machine&, const topology::group&);

namespace gpu_reduction {

make_function push, pull;

}  // namespace gpu_reduction

}  // namespace mgsync
