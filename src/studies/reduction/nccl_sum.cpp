#include "src/studies/reduction/nccl_sum.hpp"

#include <stdexcept>

#if MGSYNC_WITH_NCCL
#include "src/base/nccl.hpp"
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
  std::vector<nccl::process_gpu> places;
  for (const auto& m : group.members) places.push_back({m.rank, m.gpu});
  communicators = &nccl::communicators_of(places, where.rank(), [&](const std::string& bytes) {
    return where.ranks().broadcast(bytes, group.members.front().rank, "starting NCCL");
  });
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
