#include "src/studies/reduction/cub_sum.hpp"

#include <cub/device/device_reduce.cuh>

namespace mgsync::reduction {
namespace {

template <class T>
cudaError_t sum(void* temporary, std::size_t& bytes, const void* from, void* to, std::size_t count,
                cudaStream_t stream) {
  return cub::DeviceReduce::Sum(temporary, bytes, static_cast<const T*>(from), static_cast<T*>(to),
                                static_cast<int>(count), stream);
}

}  // namespace

cudaError_t cub_sum(value_type type, void* temporary, std::size_t& bytes, const void* from, void* to,
                    std::size_t count, cudaStream_t stream) {
  switch (type) {
  case value_type::fp64: return sum<double>(temporary, bytes, from, to, count, stream);
  case value_type::fp32: return sum<float>(temporary, bytes, from, to, count, stream);
  case value_type::int32: return sum<std::int32_t>(temporary, bytes, from, to, count, stream);
  }
  return cudaErrorInvalidValue;
}

int cub_version() { return CUB_VERSION; }

}  // namespace mgsync::reduction
