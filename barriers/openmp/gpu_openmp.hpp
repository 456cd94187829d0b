// The CPU-side barrier of GPU members: null kernel, stream synchronize, barrier of the host threads.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_gpu_openmp(const topology::group&, const configuration&, session&);

}  // namespace mgsync
