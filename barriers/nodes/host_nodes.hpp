// The barrier over nodes on host members: in each node their workers, and the proxies that speak for them.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::nodes {

make_function create_leader, create_rail, create_faster;

}  // namespace mgsync::nodes
