// The barrier of the threads of one block.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_gpu_block(const topology::group&, const configuration&, session&);

}  // namespace mgsync
