#include "src/studies/reduction/vendor_sum.hpp"

#if MGSYNC_WITH_VENDOR
#include <map>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"

extern const unsigned char mgsync_vendor_image[];
#endif

namespace mgsync::reduction {

#if MGSYNC_WITH_VENDOR

namespace {

constexpr const char* name_of(value_type type) {
  return type == value_type::fp64   ? "mgsync_vendor_sum_fp64"
         : type == value_type::fp32 ? "mgsync_vendor_sum_fp32"
                                    : "mgsync_vendor_sum_int32";
}

unsigned abi_of(CUmodule module) {
  static const auto get_global = cuda::driver_function<decltype(&cuModuleGetGlobal)>("cuModuleGetGlobal");
  static const auto copy_to_host = cuda::driver_function<decltype(&cuMemcpyDtoH)>("cuMemcpyDtoH");
  CUdeviceptr address = 0;
  unsigned abi = 0;
  if (get_global(&address, nullptr, module, "mgsync_vendor_sum_abi") == CUDA_SUCCESS)
    cuda::check_driver(copy_to_host(&abi, address, sizeof abi), "reading the version of the vendor's cubin");
  return abi;
}

// Loaded once per process and never unloaded, since unloading would wait for everything on the GPU.
CUmodule module_on(int ordinal, std::string& reason) {
  static std::map<int, CUmodule> loaded;
  static const auto load = cuda::driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  if (const auto found = loaded.find(ordinal); found != loaded.end()) return found->second;
  cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", ordinal));
  CUmodule module = nullptr;
  const auto status = load(&module, mgsync_vendor_image);
  if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_INVALID_IMAGE ||
      status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    reason = fmt::format("the vendor's cubin was not built for GPU {}", ordinal);
    return nullptr;
  }
  cuda::check_driver(status, fmt::format("loading the vendor's barrier on GPU {}", ordinal));
  if (abi_of(module) != sizeof(sum_arguments)) {
    reason = "the vendor's cubin has no sums, or those of another version of mgsync; build it anew";
    return nullptr;
  }
  return loaded[ordinal] = module;
}

}  // namespace

std::unique_ptr<vendor_sum> vendor_sum::load(value_type type, const std::vector<int>& ordinals,
                                             std::string& reason) {
  static const auto get_function =
      cuda::driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  auto made = std::make_unique<vendor_sum>();
  for (const int ordinal : ordinals) {
    const cuda::device_scope scope(ordinal);
    const CUmodule module = module_on(ordinal, reason);
    if (module == nullptr) return nullptr;
    CUfunction kernel = nullptr;
    cuda::check_driver(get_function(&kernel, module, name_of(type)),
                       fmt::format("looking for {}", name_of(type)));
    made->kernels_.push_back(kernel);
  }
  return made;
}

unsigned vendor_sum::resident_blocks(unsigned gpu, unsigned threads) const {
  static const auto resident = cuda::driver_function<decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  int blocks = 0;
  cuda::check_driver(resident(&blocks, static_cast<CUfunction>(kernels_[gpu]), static_cast<int>(threads), 0),
                     "asking how many blocks fit on an SM");
  return static_cast<unsigned>(blocks);
}

void vendor_sum::launch(unsigned blocks, unsigned threads, std::vector<sum_arguments>& given,
                        const std::vector<cudaStream_t>& streams) const {
  // cuda.h marks the declaration as deprecated, but the driver still has the function.
  using launch_function = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);
  static const auto launch_all =
      cuda::driver_function<launch_function>("cuLaunchCooperativeKernelMultiDevice");
  std::vector<CUDA_LAUNCH_PARAMS> launches(kernels_.size());
  std::vector<void*> parameters;
  for (auto& each : given) parameters.push_back(&each);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    launches[i].function = static_cast<CUfunction>(kernels_[i]);
    launches[i].gridDimX = blocks;
    launches[i].blockDimX = threads;
    launches[i].gridDimY = launches[i].gridDimZ = launches[i].blockDimY = launches[i].blockDimZ = 1;
    launches[i].hStream = streams[i];
    launches[i].kernelParams = &parameters[i];
  }
  cuda::check_driver(launch_all(launches.data(), static_cast<unsigned>(launches.size()), 0),
                     "launching sums on all GPUs");
}

#else

std::unique_ptr<vendor_sum> vendor_sum::load(value_type, const std::vector<int>&, std::string& reason) {
  reason = "this build has no cubin of NVIDIA's multi-grid barrier (docs/vendor-barrier.md)";
  return nullptr;
}
unsigned vendor_sum::resident_blocks(unsigned, unsigned) const { return 0; }
void vendor_sum::launch(unsigned, unsigned, std::vector<sum_arguments>&,
                        const std::vector<cudaStream_t>&) const {}

#endif

}  // namespace mgsync::reduction
