#include "src/studies/reduction/gpu_kernels.cuh"

namespace mgsync::reduction {

const void* sum_kernel_fp64(loads how, joining join) { return kernel_of<double>(how, join); }
const void* joining_kernel_fp64(bool dependent) {
  return dependent ? address_of(join<double, true>) : address_of(join<double, false>);
}

}  // namespace mgsync::reduction
