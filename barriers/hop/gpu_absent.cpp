// Built without CUDA.
#include "barriers/hop/gpu_hop.hpp"

namespace mgsync {

support gpu_hop_can_run(const topology::machine&, const topology::group&) { return support::no("this build has no CUDA"); }

creation create_gpu_hop(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
