#include "src/base/gpu_start.hpp"

#include <fmt/format.h>

#include "src/base/cuda.hpp"

namespace mgsync {

void start_gpu(int ordinal) {
  cuda::check(cudaSetDevice(ordinal), fmt::format("selecting GPU {}", ordinal));
  cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", ordinal));
}

}  // namespace mgsync
