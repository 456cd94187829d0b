#include "src/base/gpu_start.hpp"

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#ifdef MGSYNC_WITH_NCCL
#include "src/base/nccl.hpp"
#endif

namespace mgsync {

void start_gpu(int ordinal) {
  cuda::check(cudaSetDevice(ordinal), fmt::format("selecting GPU {}", ordinal));
  cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", ordinal));
}

std::map<std::string, std::string> gpu_software() {
  const auto words = [](int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); };
  std::map<std::string, std::string> found{{"CUDA toolkit", words(CUDART_VERSION)}};
  int version = 0;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) found["CUDA run time"] = words(version);
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0) found["CUDA driver API"] = words(version);
#ifdef MGSYNC_WITH_NCCL
  found["NCCL"] = nccl::version_text(nccl::version());
#endif
  return found;
}

}  // namespace mgsync
