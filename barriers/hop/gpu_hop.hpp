// The pieces on GPU members.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

// As the backend's two functions, for groups of GPUs. Without CUDA the first says so.
support gpu_hop_can_run(const topology::machine&, const topology::group&);
creation create_gpu_hop(const topology::group&, const configuration&, session&);

}  // namespace mgsync
