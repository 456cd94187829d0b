// The reduction on GPU members: by all blocks of one kernel per GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

// As the backend's two functions, for groups of GPUs. Without CUDA the first says so.
support gpu_reduction_can_run(const topology::machine&, const topology::group&);
creation create_gpu_reduction(const topology::group&, const configuration&, session&);

}  // namespace mgsync
