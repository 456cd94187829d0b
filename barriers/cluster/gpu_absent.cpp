// Built without CUDA.
#include "barriers/cluster/gpu_cluster.hpp"

namespace mgsync {

creation create_gpu_cluster(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no CUDA", {}, {}};
}

}  // namespace mgsync
