// Built without CUDA.
#include "barriers/openmp/gpu_openmp.hpp"

namespace mgsync {

creation create_gpu_openmp(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
