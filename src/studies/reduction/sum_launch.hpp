// How the kernels of sums are launched. Host code with CUDA.
#pragma once

#include <optional>

#include "src/base/cuda.hpp"
#include "src/studies/reduction/gpu_kernels.hpp"

namespace mgsync::reduction {

struct sum_launch {
  const void* kernel = nullptr;
  unsigned blocks = 1, threads = 32;
  std::size_t shared_bytes = 0;
  std::optional<cudaLaunchAttributeID>
      special{};  // cooperative, in clusters of cluster_blocks, or started early
};

inline void launch(const sum_launch& what, void** parameters, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(what.blocks);
  config.blockDim = dim3(what.threads);
  config.dynamicSmemBytes = what.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  config.attrs = &attribute;
  if (what.special) {
    config.numAttrs = 1;
    attribute.id = *what.special;
    if (*what.special == cudaLaunchAttributeCooperative) attribute.val.cooperative = 1;
    else if (*what.special == cudaLaunchAttributeClusterDimension)
      attribute.val.clusterDim = {cluster_blocks, 1, 1};
    else attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  cuda::check(cudaLaunchKernelExC(&config, what.kernel, parameters), "launching a sum");
}

// Launches the second kernel, of one block, which adds up the `sums` values at `partials`.
inline void launch_joining(const void* kernel, const void* partials, std::size_t sums, void* result,
                           bool early, cudaStream_t stream) {
  void* parameters[] = {&partials, &sums, &result};
  sum_launch what{kernel, 1, static_cast<unsigned>(std::clamp<std::size_t>((sums + 31) / 32 * 32, 32, 512))};
  if (early) what.special = cudaLaunchAttributeProgrammaticStreamSerialization;
  launch(what, parameters, stream);
}

// Allows the kernel the shared memory that it needs. To be called before asking how many blocks fit, and
// before launching.
inline void allow_shared_memory(const void* kernel, loads how) {
  if (is_bulk(how))
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared_bytes_of(how))),
                "asking for shared memory");
}

}  // namespace mgsync::reduction
