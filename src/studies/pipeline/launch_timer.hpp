// Times one launch of a kernel among many in a row: the launches are queued behind a kernel that spins until
// the host releases it, so that the host's own time per launch does not show.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <vector>

namespace mgsync::pipeline {

class launch_timer {
 public:
  // On the calling thread's GPU.
  launch_timer();
  ~launch_timer();
  launch_timer(const launch_timer&) = delete;
  launch_timer& operator=(const launch_timer&) = delete;

  // ns per launch, the mean over `launches` of them, for each of `samples`. Throws api_error.
  std::vector<double> time_ns(const std::function<void(cudaStream_t)>& launch, int launches, int samples);
  cudaStream_t stream() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace mgsync::pipeline
