// Built without CUDA.
#include "barriers/mpi/gpu_mpi.hpp"

namespace mgsync {

creation create_gpu_mpi(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
