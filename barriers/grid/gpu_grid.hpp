// The barriers of all blocks of one GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_grid {

make_function automatic, counter, hub, relay, cooperative_groups;

}  // namespace mgsync::gpu_grid
