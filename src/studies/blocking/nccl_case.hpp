// NCCL's device barrier as a case: one block of each GPU of this process.
#pragma once

#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "src/studies/blocking/gpu_case_kernels.hpp"

namespace mgsync::blocking {

// Makes what the kernels need; called once, before anything runs on the GPUs. Returns why that failed, or
// nothing.
std::string prepare_nccl(const std::vector<int>& gpus);
const void* kernel_of_nccl(bool predicated);
// Launches the case on the calling thread's GPU, which must be the `index`-th that was prepared.
void launch_nccl(const gpu_board&, unsigned index, bool predicated, unsigned threads, cudaStream_t);

}  // namespace mgsync::blocking
