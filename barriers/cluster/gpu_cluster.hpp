// The barriers of one cluster, on its GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_cluster {

make_function hardware, cooperative_groups;

}  // namespace mgsync::gpu_cluster
