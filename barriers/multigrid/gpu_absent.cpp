// Built without CUDA.
#include "barriers/multigrid/gpu_multigrid.hpp"

namespace mgsync {

support gpu_multigrid_can_run(const topology::machine&, const topology::group&, const configuration&) {
  return support::no("this build has no CUDA");
}

creation create_gpu_multigrid(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
