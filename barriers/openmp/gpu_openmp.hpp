// The CPU-side barrier of GPU members: null kernel, stream synchronize, barrier of the host threads.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_openmp {

make_function runtime, std_barrier;

}  // namespace mgsync::gpu_openmp
