#include "barriers/parts/gpu_team/vendor_cubin.hpp"

#include <map>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"

#if MGSYNC_WITH_VENDOR
extern const unsigned char mgsync_vendor_image[];
#else
constexpr const unsigned char* mgsync_vendor_image = nullptr;
#endif

namespace mgsync::gpu_team {

namespace {

CUmodule loaded_on(int ordinal, std::string& reason) {
  static std::map<int, CUmodule> loaded;
  if (const auto found = loaded.find(ordinal); found != loaded.end()) return found->second;
  static const auto load = cuda::driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", ordinal));
  CUmodule module = nullptr;
  const auto status = load(&module, mgsync_vendor_image);
  if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_INVALID_IMAGE ||
      status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    reason = fmt::format("the vendor's cubin was not built for GPU {}", ordinal);
    return nullptr;
  }
  cuda::check_driver(status, fmt::format("loading the vendor's barrier on GPU {}", ordinal));
  return loaded[ordinal] = module;
}

}  // namespace

vendor_cubin::vendor_cubin(int ordinal, const vendor_part& part, std::string& reason) : ordinal_(ordinal) {
  if (!MGSYNC_WITH_VENDOR) {
    reason = "this build has no cubin of NVIDIA's multi-grid barrier (docs/vendor-barrier.md)";
    return;
  }
  const cuda::device_scope scope(ordinal);
  module_ = loaded_on(ordinal, reason);
  if (module_ != nullptr && number(part.version_name) != part.version) reason = part.refusal;
}

CUfunction vendor_cubin::kernel(const char* name) const {
  static const auto get_function =
      cuda::driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  const cuda::device_scope scope(ordinal_);
  CUfunction found = nullptr;
  cuda::check_driver(get_function(&found, module_, name), fmt::format("looking for {}", name));
  return found;
}

unsigned vendor_cubin::number(const char* name) const {
  static const auto get_global = cuda::driver_function<decltype(&cuModuleGetGlobal)>("cuModuleGetGlobal");
  static const auto copy_to_host = cuda::driver_function<decltype(&cuMemcpyDtoH)>("cuMemcpyDtoH");
  const cuda::device_scope scope(ordinal_);
  CUdeviceptr address = 0;
  unsigned found = 0;
  if (get_global(&address, nullptr, module_, name) == CUDA_SUCCESS)
    cuda::check_driver(copy_to_host(&found, address, sizeof found),
                       fmt::format("reading {} of the vendor's cubin", name));
  return found;
}

int blocks_on_an_sm(CUfunction kernel, unsigned threads) {
  static const auto resident = cuda::driver_function<decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  int blocks = 0;
  cuda::check_driver(resident(&blocks, kernel, static_cast<int>(threads), 0),
                     "asking how many blocks fit on an SM");
  return blocks;
}

}  // namespace mgsync::gpu_team
