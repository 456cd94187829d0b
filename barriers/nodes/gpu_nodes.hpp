// The barrier over nodes on GPU members: the GPUs of each node, and the proxies that speak for them.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::nodes {

make_function create_gpu_leader, create_gpu_rail, create_gpu_faster;

}  // namespace mgsync::nodes
