// Built without CUDA.
#include "barriers/kernel_boundary/gpu_kernel_boundary.hpp"

namespace mgsync {

creation create_gpu_kernel_boundary(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
