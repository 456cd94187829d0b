// The barriers of one warp, on its GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_warp {

make_function syncwarp, apart, tile, coalesced;

}  // namespace mgsync::gpu_warp
