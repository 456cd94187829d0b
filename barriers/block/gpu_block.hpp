// The barriers of one block, on its GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_block {

make_function syncthreads, named, mbarrier, cuda_barrier, cooperative_groups;

}  // namespace mgsync::gpu_block
