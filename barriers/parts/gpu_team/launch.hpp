// How a kernel is launched beside the plain way: with an attribute, captured into a graph, or on all GPUs by
// one call of the driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <string_view>
#include <vector>

#include "barriers/parts/gpu_team/launch_as.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::gpu_team {

struct kernel_launch {
  const void* kernel = nullptr;
  unsigned blocks = 1, threads = 32;
  std::size_t shared_bytes = 0;
  launch_as as = launch_as::plain;
  unsigned cluster = 1;  // blocks of a cluster
};
// The same as CUDA's calls take it.
class launch_settings {
 public:
  explicit launch_settings(const kernel_launch&, cudaStream_t = nullptr);
  launch_settings(const launch_settings&) = delete;
  launch_settings& operator=(const launch_settings&) = delete;
  const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchConfig_t config_{};
  cudaLaunchAttribute attribute_{};
};

// On the calling thread's GPU. `what`: for the error, "launching a sum".
void launch(const kernel_launch&, void** arguments, cudaStream_t, std::string_view what);

// Waits for the end of a stream that may never come, and returns how it ended: an error such as a trap's, or
// cudaErrorNotReady where it did not end before the deadline.
cudaError_t end_of(cudaStream_t, std::chrono::steady_clock::time_point deadline,
                   std::chrono::microseconds look_every);

// What `issue` enqueues on the stream of the calling thread's GPU, as a graph that can be launched. `what`:
// for the error, "capturing sums".
template <class Issue>
cuda::executable captured(cudaStream_t stream, std::string_view what, const Issue& issue) {
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), what);
  issue();
  cudaGraph_t made = nullptr;
  cuda::check(cudaStreamEndCapture(stream, &made), what);
  return cuda::instantiate(cuda::graph(made));
}

// cuLaunchCooperativeKernelMultiDevice: one call launches on all GPUs, and no kernel of it starts before
// those of the call before have ended. CUDA's headers call it deprecated, so it is found by its name; drivers
// still have it.
class launch_on_all {
 public:
  static bool exists();
  // Throws api_error where the driver does not have the call.
  explicit launch_on_all(std::size_t gpus);

  // What the next calls launch on the index-th of the GPUs; `arguments` must live as long.
  void set(std::size_t index, CUfunction, unsigned blocks, unsigned threads, void** arguments, cudaStream_t);
  [[nodiscard]] CUresult call();
  // The same; throws api_error.
  void call(std::string_view what);

 private:
  std::vector<CUDA_LAUNCH_PARAMS> launches_;
};

}  // namespace mgsync::gpu_team
