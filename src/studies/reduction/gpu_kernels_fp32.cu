#include "src/studies/reduction/gpu_kernels.cuh"

namespace mgsync::reduction {

const void* sum_kernel_fp32(loads how, joining join) { return kernel_of<float>(how, join); }
const void* joining_kernel_fp32(bool dependent) {
  return dependent ? address_of(join<float, true>) : address_of(join<float, false>);
}

}  // namespace mgsync::reduction
