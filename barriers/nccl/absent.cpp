// Built without NCCL.
#include "barriers/nccl/all_reduce.hpp"

namespace mgsync {

support nccl_is_built() { return support::no("this build has no NCCL"); }

creation create_nccl_all_reduce(const topology::group&, const configuration&, session&) {
  return {nullptr, "this build has no NCCL", {}, {}};
}

}  // namespace mgsync
