#include "src/studies/blocking/vendor_case.hpp"

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"

extern const unsigned char mgsync_vendor_image[];

namespace mgsync::blocking {
namespace {

struct prepared {
  std::vector<CUfunction> kernels;  // by GPU; never unloaded: the process ends with the case
  vendor_code code;
};
prepared& all() {
  static prepared one;
  return one;
}

unsigned number_in(CUmodule module, const char* name) {
  static const auto get_global = cuda::driver_function<decltype(&cuModuleGetGlobal)>("cuModuleGetGlobal");
  static const auto copy_to_host = cuda::driver_function<decltype(&cuMemcpyDtoH)>("cuMemcpyDtoH");
  CUdeviceptr address = 0;
  unsigned number = 0;
  if (get_global(&address, nullptr, module, name) != CUDA_SUCCESS) return 0;
  cuda::check_driver(copy_to_host(&number, address, sizeof number),
                     fmt::format("reading {} of the vendor's cubin", name));
  return number;
}

}  // namespace

std::string prepare_vendor(const std::vector<int>& gpus, bool predicated) {
  const auto load = cuda::driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  const auto get_function = cuda::driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  const auto attribute = cuda::driver_function<decltype(&cuFuncGetAttribute)>("cuFuncGetAttribute");
  for (const int gpu : gpus) {
    const cuda::device_scope scope(gpu);
    cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", gpu));
    CUmodule module = nullptr;
    const auto status = load(&module, mgsync_vendor_image);
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_INVALID_IMAGE ||
        status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
      return fmt::format("the vendor's cubin was not built for GPU {}", gpu);
    cuda::check_driver(status, fmt::format("loading the vendor's barrier on GPU {}", gpu));
    if (number_in(module, "mgsync_vendor_case_abi") !=
        sizeof(gpu_board) + sizeof(gpu_progress) + sizeof(gpu_counts))
      return "the vendor's cubin has no cases, or those of another version of mgsync; build it anew";
    CUfunction kernel = nullptr;
    const char* name = predicated ? "mgsync_vendor_case_predicated" : "mgsync_vendor_case_branch";
    cuda::check_driver(get_function(&kernel, module, name), fmt::format("looking for {}", name));
    int architecture = 0;
    cuda::check_driver(attribute(&architecture, CU_FUNC_ATTRIBUTE_BINARY_VERSION, kernel),
                       "reading what code a kernel has");
    const unsigned toolkit = number_in(module, "mgsync_vendor_case_toolkit");
    all().code = {fmt::format("CUDA {}.{}", toolkit / 10, toolkit % 10), fmt::format("sm_{}", architecture)};
    all().kernels.push_back(kernel);
  }
  return {};
}

vendor_code what_vendor_has() { return all().code; }

void launch_vendor(const gpu_board& board, bool whole_gpus, unsigned blocks, unsigned threads,
                   const std::vector<cudaStream_t>& streams) {
  // cuda.h marks the declaration as deprecated, but the driver still has the function.
  using launch_function = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);
  const auto launch = cuda::driver_function<launch_function>("cuLaunchCooperativeKernelMultiDevice");
  auto b = board;
  void* arguments[] = {&b, &whole_gpus};
  std::vector<CUDA_LAUNCH_PARAMS> launches(streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    launches[i].function = all().kernels.at(i);
    launches[i].gridDimX = blocks;
    launches[i].blockDimX = threads;
    launches[i].gridDimY = launches[i].gridDimZ = launches[i].blockDimY = launches[i].blockDimZ = 1;
    launches[i].hStream = streams[i];
    launches[i].kernelParams = arguments;
  }
  cuda::check_driver(launch(launches.data(), static_cast<unsigned>(launches.size()), 0),
                     "launching the vendor's barrier on all GPUs");
}

}  // namespace mgsync::blocking
