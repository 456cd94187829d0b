#include "src/studies/reduction/gpu_kernels.cuh"

namespace mgsync::reduction {

const void* sum_kernel_int32(loads how, joining join) { return kernel_of<std::uint32_t>(how, join); }
const void* joining_kernel_int32(bool dependent) {
  return dependent ? address_of(join<std::uint32_t, true>) : address_of(join<std::uint32_t, false>);
}

}  // namespace mgsync::reduction
