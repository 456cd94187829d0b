// The barrier of the blocks of one cluster.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_gpu_cluster(const topology::group&, const configuration&, session&);

}  // namespace mgsync
