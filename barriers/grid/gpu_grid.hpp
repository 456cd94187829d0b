// The barrier of all blocks of one GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_gpu_grid(const topology::group&, const configuration&, session&);

}  // namespace mgsync
