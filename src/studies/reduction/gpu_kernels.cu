#include "src/studies/reduction/gpu_kernels.hpp"

namespace mgsync::reduction {

const void* sum_kernel_fp64(loads, joining);
const void* sum_kernel_fp32(loads, joining);
const void* sum_kernel_int32(loads, joining);
const void* joining_kernel_fp64(bool);
const void* joining_kernel_fp32(bool);
const void* joining_kernel_int32(bool);

const void* sum_kernel(value_type type, loads how, joining join) {
  switch (type) {
  case value_type::fp64: return sum_kernel_fp64(how, join);
  case value_type::fp32: return sum_kernel_fp32(how, join);
  case value_type::int32: return sum_kernel_int32(how, join);
  }
  return nullptr;
}

const void* joining_kernel(value_type type, bool dependent) {
  switch (type) {
  case value_type::fp64: return joining_kernel_fp64(dependent);
  case value_type::fp32: return joining_kernel_fp32(dependent);
  case value_type::int32: return joining_kernel_int32(dependent);
  }
  return nullptr;
}

}  // namespace mgsync::reduction
