// cuBLAS beside the kernels of the study: the library is looked for at run time, so that nothing depends on
// it.
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/studies/pipeline/gemm_kernel.hpp"
#if MGSYNC_WITH_CUBLAS
#include <cublas_v2.h>

#include "topology/sources/dynamic_library.hpp"
#endif

namespace mgsync::pipeline {

namespace {

#if MGSYNC_WITH_CUBLAS

#define MGSYNC_TEXT_OF(word) #word
#define MGSYNC_LIBRARY(major) "libcublas.so." MGSYNC_TEXT_OF(major)

void check_cublas(cublasStatus_t status, const char* doing) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw api_error("cuBLAS", fmt::format("status {}", static_cast<int>(status)), doing,
                    source_location::current(), static_cast<int>(status));
}

// The form in which cuBLAS exports it; its header has another function of this name beside it.
using gemm_function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                     const void*, const void*, cudaDataType, int, const void*, cudaDataType,
                                     int, const void*, void*, cudaDataType, int, cublasComputeType_t,
                                     cublasGemmAlgo_t);

// Stays in the process with its handle, as it must not be unloaded while the driver has its kernels.
struct loaded_cublas {
  gemm_function* multiply = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  cublasHandle_t handle = nullptr;

  loaded_cublas() {
    for (const char* file : {MGSYNC_LIBRARY(CUBLAS_VER_MAJOR), MGSYNC_CUBLAS_FILE}) {
      topology::dynamic_library library(file);
      auto* const create = library.find<std::remove_pointer_t<decltype(&cublasCreate_v2)>>("cublasCreate_v2");
      if (create == nullptr) continue;
      multiply = library.find<gemm_function>("cublasGemmEx");
      set_stream = library.find<std::remove_pointer_t<decltype(&cublasSetStream_v2)>>("cublasSetStream_v2");
      library.keep();
      if (multiply == nullptr || set_stream == nullptr) return;
      check_cublas(create(&handle), "starting cuBLAS");
      return;
    }
  }
};

const loaded_cublas& library() {
  static const loaded_cublas once;
  return once;
}

std::optional<std::string> cannot_run() {
  if (library().handle != nullptr) return std::nullopt;
  return MGSYNC_LIBRARY(CUBLAS_VER_MAJOR) " was not found where libraries are looked for";
}

// Row by row is column by column of the transposed: C' = B A', with B' and A' as they lie in memory.
void launch(const gemm_launch&, const gemm_operands& on, cudaStream_t stream) {
  const float one = 1, none = 0;
  const auto& cublas = library();
  check_cublas(cublas.set_stream(cublas.handle, stream), "giving cuBLAS a stream");
  check_cublas(cublas.multiply(cublas.handle, CUBLAS_OP_T, CUBLAS_OP_N, on.size.n, on.size.m, on.size.k, &one,
                               on.b, CUDA_R_16F, on.size.k, on.a, CUDA_R_16F, on.size.k, &none, on.c,
                               CUDA_R_32F, on.size.n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
               "multiplying with cuBLAS");
}

#else

std::optional<std::string> cannot_run() { return "this mgsync was built without cuBLAS"; }
void launch(const gemm_launch&, const gemm_operands&, cudaStream_t) { throw std::logic_error(*cannot_run()); }

#endif

}  // namespace

const gemm_kernel& cublas_kernel() {
  static const gemm_kernel kernel_of_vendor{cublas_family,
                                            cannot_run,
                                            [](const gemm_launch&) { return std::size_t{0}; },
                                            launch,
                                            [](int) { return kernel_needs{}; },
                                            true};
  return kernel_of_vendor;
}

}  // namespace mgsync::pipeline
