// NVSHMEM's barrier on GPU members, one per rank.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

std::string version_of_nvshmem();  // empty where it was not loaded

namespace gpu_nvshmem {

make_function warp, block;

}  // namespace gpu_nvshmem

}  // namespace mgsync
