// The multigrid barrier on GPU members: passed by all blocks of one kernel per GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

// As the backend's two functions, for groups of GPUs. Without CUDA the first says so.
support gpu_multigrid_can_run(const topology::machine&, const topology::group&, const configuration&);
creation create_gpu_multigrid(const topology::group&, const configuration&, session&);

}  // namespace mgsync
