// NVIDIA's own multi-grid barrier as a case: kernels of a cubin that an nvcc before 13 made, launched on all
// GPUs at once.
#pragma once

#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "src/studies/blocking/gpu_case_kernels.hpp"

namespace mgsync::blocking {

// Loads the kernels on these GPUs. Empty, or why there are none here.
std::string prepare_vendor(const std::vector<int>& gpus, bool predicated);
// What made them, and for which architecture. After prepare_vendor().
struct vendor_code {
  std::string toolkit, architecture;
};
vendor_code what_vendor_has();
// Cooperatively on all of them by one call, a stream each, whose participants are blocks or `whole_gpus`.
void launch_vendor(const gpu_board&, bool whole_gpus, unsigned blocks, unsigned threads,
                   const std::vector<cudaStream_t>& streams);

}  // namespace mgsync::blocking
