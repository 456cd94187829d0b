#include "barriers/library/launch_checks.hpp"

#include <algorithm>

#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

void check_first_parameter([[maybe_unused]] const void* kernel) {
#if CUDART_VERSION >= 12040
  static const auto about =
      reinterpret_cast<decltype(&cuFuncGetParamInfo)>(cuda::find_driver_entry("cuFuncGetParamInfo", 12040));
  if (about == nullptr) return;
  cudaFunction_t function = nullptr;
  cuda::check(cudaGetFuncBySymbol(&function, kernel), "looking for the kernel");
  std::size_t offset = 0, size = 0;
  const auto status = about(reinterpret_cast<CUfunction>(function), 0, &offset, &size);
  constexpr std::size_t size_in_version_1 = 208;
  if (status == CUDA_SUCCESS && size == size_in_version_1)
    throw usage_error(filled(
        "the kernel was compiled with headers of mgsync whose handle has {} bytes (version 1), and this "
        "library's has {} (version {}): compile it with the library's own headers",
        size, sizeof(multi_grid_handle), MGSYNC_ABI_VERSION));
  if (status == CUDA_ERROR_INVALID_VALUE || (status == CUDA_SUCCESS && size != sizeof(multi_grid_handle)))
    throw usage_error(
        "the kernel's first parameter is not a mgsync::multi_grid_handle: without it the kernel cannot "
        "join the group");
#endif
}

std::string name_of_kernel([[maybe_unused]] const void* kernel) {
#if CUDART_VERSION >= 12030
  static const auto ask =
      reinterpret_cast<decltype(&cuFuncGetName)>(cuda::find_driver_entry("cuFuncGetName", 12030));
  cudaFunction_t function = nullptr;
  const char* name = nullptr;
  if (ask == nullptr || kernel == nullptr) return {};
  cuda::check(cudaGetFuncBySymbol(&function, kernel), "looking for the kernel");
  if (ask(&name, reinterpret_cast<CUfunction>(function)) == CUDA_SUCCESS && name != nullptr) return name;
#endif
  return {};
}

launch_plan plan_of(const launch_parameters& p, unsigned blocks, int ordinal) {
  const cuda::device_scope scope(ordinal);  // or asking for the name starts the calling thread's GPU
  return {blocks, name_of_kernel(p.func), p.gridDim, p.blockDim};
}

std::optional<unsigned> sms_of_green_context([[maybe_unused]] cudaStream_t stream) {
#if CUDART_VERSION >= 12050
  static const auto context_of =
      reinterpret_cast<decltype(&cuStreamGetGreenCtx)>(cuda::find_driver_entry("cuStreamGetGreenCtx", 12050));
  static const auto resource_of = reinterpret_cast<decltype(&cuGreenCtxGetDevResource)>(
      cuda::find_driver_entry("cuGreenCtxGetDevResource", 12050));
  CUgreenCtx context = nullptr;
  if (stream == nullptr || context_of == nullptr || resource_of == nullptr) return std::nullopt;
  if (context_of(stream, &context) != CUDA_SUCCESS || context == nullptr) return std::nullopt;
  CUdevResource resource{};
  if (resource_of(context, &resource, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS) return std::nullopt;
  return resource.sm.smCount;
#else
  return std::nullopt;
#endif
}

bool is_captured(cudaStream_t stream, int ordinal) {
  static const auto ask =
      reinterpret_cast<decltype(&cuStreamIsCapturing)>(cuda::find_driver_entry("cuStreamIsCapturing"));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const auto asked = ask == nullptr ? CUDA_SUCCESS : ask(stream, &status);
  if (asked == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    throw usage_error(
        filled("the launch on GPU {} is on the default stream while another stream is being captured: give "
               "it a stream of its own, or the one that is captured",
               ordinal));
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

std::string why_not_on(cudaStream_t stream, int ordinal) {
  using device_function = CUresult (*)(CUstream, CUdevice*);
  static const auto device_of =
      reinterpret_cast<device_function>(cuda::find_driver_entry("cuStreamGetDevice", 12080));
  CUdevice device = ordinal;
  const bool special =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;  // of any GPU
  if (!special && device_of != nullptr && device_of(stream, &device) == CUDA_SUCCESS && device != ordinal)
    return filled("the stream of the launch on GPU {} belongs to GPU {}: it takes one of GPU {}", ordinal,
                  device, ordinal);
  return {};
}

unsigned resident_at_once(const launch_parameters& p, unsigned threads, int ordinal) {
  cudaFuncAttributes about{};
  cuda::check(cudaFuncGetAttributes(&about, p.func), "asking about the kernel");
  if (about.clusterDimMustBeSet != 0 && about.requiredClusterWidth == 0)
    throw usage_error(
        "the kernel's clusters have no size of their own: declare it with __cluster_dims__(x, y, z), since a "
        "group's launch cannot name one");
  const auto cluster = static_cast<unsigned>(std::max(about.requiredClusterWidth, 1)) *
                       static_cast<unsigned>(std::max(about.requiredClusterHeight, 1)) *
                       static_cast<unsigned>(std::max(about.requiredClusterDepth, 1));
  if (cluster == 1)
    return static_cast<unsigned>(cuda::resident_blocks(p.func, threads, p.sharedMem) *
                                 cuda::sm_count(ordinal));
  cudaLaunchConfig_t asked{};
  asked.gridDim = p.gridDim;
  asked.blockDim = p.blockDim;
  asked.dynamicSmemBytes = p.sharedMem;
  int clusters = 0;
  cuda::check(cudaOccupancyMaxActiveClusters(&clusters, p.func, &asked), "asking how many clusters fit");
  return static_cast<unsigned>(clusters) * cluster;
}

std::string remedy_for_shared_memory(const launch_parameters& p, int ordinal) {
  cudaFuncAttributes about{};
  cuda::check(cudaFuncGetAttributes(&about, p.func), "asking about the kernel");
  int most = 0;
  cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
              filled("asking about GPU {}", ordinal));
  const auto allowed = static_cast<std::size_t>(about.maxDynamicSharedSizeBytes);
  if (p.sharedMem <= allowed || p.sharedMem + about.sharedSizeBytes > static_cast<std::size_t>(most))
    return {};
  return filled(". The kernel may use {} bytes: for more, set its "
                "cudaFuncAttributeMaxDynamicSharedMemorySize on every GPU",
                allowed);
}

}  // namespace mgsync::library
