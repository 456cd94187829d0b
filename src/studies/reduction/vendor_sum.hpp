// Sums with NVIDIA's multi-grid barrier inside the kernel: kernels from a cubin that an nvcc older than 13
// compiled, launched on all GPUs at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "barriers/parts/gpu_team/launch.hpp"
#include "barriers/parts/gpu_team/local_gpus.hpp"
#include "src/studies/reduction/gpu_kernels.hpp"

namespace mgsync::reduction {

class vendor_sum {
 public:
  explicit vendor_sum(std::vector<CUfunction> kernels)
      : kernels_(std::move(kernels)), launches_(kernels_.size()) {}
  // Nothing, and the reason, where this build has no such cubin, or it has no code for these GPUs.
  static std::unique_ptr<vendor_sum> load(value_type, const std::vector<gpu_team::gpu_member>&,
                                          std::string& reason);

  // How many of the kernel's blocks one SM of GPU number `gpu` can hold.
  int resident_blocks(unsigned gpu, unsigned threads) const;
  // Launches on all GPUs by one call, with a stream and arguments for each.
  void launch(unsigned blocks, unsigned threads, std::vector<sum_arguments>&,
              const std::vector<cudaStream_t>&);

 private:
  std::vector<CUfunction> kernels_;  // by GPU
  gpu_team::launch_on_all launches_;
};

}  // namespace mgsync::reduction
