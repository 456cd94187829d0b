// Barriers that lie between kernels.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_gpu_kernel_boundary(const topology::group&, const configuration&, session&);

}  // namespace mgsync
