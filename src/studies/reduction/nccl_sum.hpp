// NCCL's reduction of one value of every GPU, all in this process.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "src/studies/reduction/numbers.hpp"

namespace mgsync::reduction {

bool has_nccl();
// Before nccl_reduce(), from one thread. The communicators live as long as the process.
void start_nccl(const std::vector<int>& ordinals);
// By each GPU's own thread: the sum of all GPUs' values at `from` lies at GPU 0's `to`.
void nccl_reduce(unsigned gpu, value_type, const void* from, void* to, cudaStream_t);

}  // namespace mgsync::reduction
