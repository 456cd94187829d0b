// cub::DeviceReduce::Sum, as it comes with the CUDA toolkit.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "src/studies/reduction/numbers.hpp"

namespace mgsync::reduction {

// Adds up `count` numbers. As with cub itself, a call without temporary memory only writes the size that is
// needed to `bytes`.
cudaError_t cub_sum(value_type, void* temporary, std::size_t& bytes, const void* from, void* to,
                    std::size_t count, cudaStream_t);
int cub_version();  // 300000 for 3.0.0

}  // namespace mgsync::reduction
