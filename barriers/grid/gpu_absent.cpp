// Built without CUDA.
#include "barriers/grid/gpu_grid.hpp"

namespace mgsync {

creation create_gpu_grid(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
