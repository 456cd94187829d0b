// The barrier of the lanes of one warp.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_gpu_warp(const topology::group&, const configuration&, session&);

}  // namespace mgsync
