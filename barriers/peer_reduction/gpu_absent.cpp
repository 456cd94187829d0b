// Built without CUDA.
#include "barriers/peer_reduction/gpu_reduction.hpp"

namespace mgsync {

support gpu_reduction_can_run(const topology::machine&, const topology::group&) {
  return support::no("this build has no CUDA");
}

creation create_gpu_reduction(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
