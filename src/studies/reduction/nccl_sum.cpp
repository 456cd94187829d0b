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

void start_nccl(const std::vector<int>& ordinals) {
  std::vector<nccl::place> places;
  for (const int ordinal : ordinals) places.push_back({0, ordinal});
  communicators = &nccl::communicators_of(places, 0, [](const std::string& bytes) { return bytes; });
}

void nccl_reduce(unsigned gpu, value_type type, const void* from, void* to, cudaStream_t stream) {
  nccl::check(ncclReduce(from, to, 1, type_of(type), ncclSum, 0, (*communicators)[gpu], stream), "reducing");
}

#else

bool has_nccl() { return false; }
void start_nccl(const std::vector<int>&) { throw std::logic_error("built without NCCL"); }
void nccl_reduce(unsigned, value_type, const void*, void*, cudaStream_t) { throw std::logic_error("built without NCCL"); }

#endif

}  // namespace mgsync::reduction
