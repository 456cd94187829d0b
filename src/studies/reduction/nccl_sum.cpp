#include "src/studies/reduction/nccl_sum.hpp"

#include <stdexcept>

#if MGSYNC_WITH_NCCL
#include "barriers/parts/round_loop/nccl_group.hpp"
#endif

namespace mgsync::reduction {

#if MGSYNC_WITH_NCCL

namespace {

const std::vector<ncclComm_t>* communicators = nullptr;

ncclDataType_t type_of(value_type type) {
  return type == value_type::fp64 ? ncclFloat64 : type == value_type::fp32 ? ncclFloat32 : ncclInt32;
}

}  // namespace

bool has_nccl() { return true; }

void start_nccl(const topology::group& group, const session& where) {
  communicators = &nccl_communicators(group, where);
}

void nccl_reduce(unsigned local, value_type type, const void* from, void* to, cudaStream_t stream) {
  nccl::check(ncclReduce(from, to, 1, type_of(type), ncclSum, 0, (*communicators)[local], stream),
              "reducing");
}

#else

bool has_nccl() { return false; }
void start_nccl(const topology::group&, const session&) { throw std::logic_error("built without NCCL"); }
void nccl_reduce(unsigned, value_type, const void*, void*, cudaStream_t) {
  throw std::logic_error("built without NCCL");
}

#endif

}  // namespace mgsync::reduction
