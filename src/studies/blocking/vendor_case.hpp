// NVIDIA's own multi-grid barrier as a case: kernels from a cubin that an nvcc older than 13 compiled,
// launched on all GPUs at once.
#pragma once

#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "src/studies/blocking/gpu_case_kernels.hpp"

namespace mgsync::blocking {

// Loads the kernels on these GPUs. Returns why that failed, or nothing.
std::string prepare_vendor(const std::vector<int>& gpus, bool predicated);
// What compiled the kernels, and for which architecture; known after prepare_vendor().
struct vendor_code {
  std::string toolkit, architecture;
};
vendor_code what_vendor_has();
// Launches cooperatively on all of them by one call, with a stream each; participants are blocks, or GPUs
// with `whole_gpus`.
void launch_vendor(const gpu_board&, bool whole_gpus, unsigned blocks, unsigned threads,
                   const std::vector<cudaStream_t>& streams);

}  // namespace mgsync::blocking
