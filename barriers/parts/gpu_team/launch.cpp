#include "barriers/parts/gpu_team/launch.hpp"

#include <thread>

#include "src/base/cuda_driver.hpp"

namespace mgsync::gpu_team {

namespace {

constexpr const char* name_of_call = "cuLaunchCooperativeKernelMultiDevice";

}  // namespace

launch_settings::launch_settings(const kernel_launch& given, cudaStream_t stream) {
  config_.gridDim = dim3(given.blocks);
  config_.blockDim = dim3(given.threads);
  config_.dynamicSmemBytes = given.shared_bytes;
  config_.stream = stream;
  config_.attrs = &attribute_;
  config_.numAttrs = 1;
  switch (given.as) {
  case launch_as::plain: config_.numAttrs = 0; break;
  case launch_as::cooperative:
    attribute_.id = cudaLaunchAttributeCooperative;
    attribute_.val.cooperative = 1;
    break;
  case launch_as::clusters:
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim = {given.cluster, 1, 1};
    break;
  case launch_as::early:
    attribute_.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute_.val.programmaticStreamSerializationAllowed = 1;
    break;
  }
}

void launch(const kernel_launch& given, void** arguments, cudaStream_t stream, std::string_view what) {
  const launch_settings settings(given, stream);
  cuda::check(cudaLaunchKernelExC(settings.get(), given.kernel, arguments), what);
}

cudaError_t end_of(cudaStream_t stream, std::chrono::steady_clock::time_point deadline,
                   std::chrono::microseconds look_every) {
  for (;;) {
    const auto status = cudaStreamQuery(stream);
    if (status != cudaErrorNotReady || std::chrono::steady_clock::now() > deadline) return status;
    std::this_thread::sleep_for(look_every);
  }
}

bool launch_on_all::exists() { return cuda::find_driver_entry(name_of_call) != nullptr; }

launch_on_all::launch_on_all(std::size_t gpus) : launches_(gpus) { cuda::driver_entry(name_of_call); }

void launch_on_all::set(std::size_t index, CUfunction function, unsigned blocks, unsigned threads,
                        void** arguments, cudaStream_t stream) {
  auto& l = launches_[index];
  l = {};
  l.function = function;
  l.gridDimX = blocks;
  l.blockDimX = threads;
  l.gridDimY = l.gridDimZ = l.blockDimY = l.blockDimZ = 1;
  l.hStream = stream;
  l.kernelParams = arguments;
}

CUresult launch_on_all::call() {
  using function = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);
  static const auto together = cuda::driver_function<function>(name_of_call);
  return together(launches_.data(), static_cast<unsigned>(launches_.size()), 0);
}

void launch_on_all::call(std::string_view what) { cuda::check_driver(call(), what); }

}  // namespace mgsync::gpu_team
