#include "src/base/cuda_driver.hpp"

#include <cuda_runtime_api.h>

#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync::cuda {

void* find_driver_entry(const char* name, [[maybe_unused]] unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const auto status = cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
#else
  const auto status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess) cudaGetLastError();
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return function;
}

void* driver_entry(const char* name) {
  void* const function = find_driver_entry(name);
  if (function == nullptr) throw api_error("CUDA driver", "no such function", filled("looking for {}", name));
  return function;
}

std::string driver_error(CUresult status) {
  const char* name = nullptr;
  const auto ask = reinterpret_cast<decltype(&cuGetErrorName)>(find_driver_entry("cuGetErrorName"));
  if (ask != nullptr) ask(status, &name);
  return name != nullptr ? std::string(name) : filled("error {}", static_cast<int>(status));
}

void check_driver(CUresult status, std::string_view action, source_location where) {
  if (status != CUDA_SUCCESS)
    throw api_error("CUDA driver", driver_error(status), action, where, static_cast<int>(status));
}

}  // namespace mgsync::cuda
