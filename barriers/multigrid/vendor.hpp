// NVIDIA's own multi-grid barrier. CUDA 13 no longer compiles it, so its kernels come from a cubin that an
// older nvcc made (MGSYNC_LEGACY_NVCC builds it, MGSYNC_VENDOR_CUBIN takes one built elsewhere).
#pragma once

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync {

support vendor_can_run(const topology::group&);
creation create_vendor(const round_loop::flag_barrier_request&);

}  // namespace mgsync
