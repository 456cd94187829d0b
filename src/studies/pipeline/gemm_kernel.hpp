// The study's matrix products on a GPU: C = A B in 32-bit floats from half inputs, A row by row (m x k), B
// column by column (n x k), C row by row (m x n). Sizes are known at run time; k and n are multiples of 8.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <vector>

#include "src/studies/pipeline/gemm_instances.hpp"
#include "src/studies/pipeline/measured_rows.hpp"

namespace mgsync::pipeline {

struct gemm_operands {
  const void* a = nullptr;  // half, device memory, 16-byte aligned
  const void* b = nullptr;
  float* c = nullptr;
  extent size;
};

struct gemm_launch {
  int instance = 0;
  int buffers = 2;
  int producers = 1;
  int blocks = 0;  // as many as output tiles: one tile per block, in waves; fewer: persistent blocks
  gemm_parts parts;
};

// What the compiler gave each thread of a kernel.
struct kernel_needs {
  int registers = 0;      // 0: unknown
  int spilled_bytes = 0;  // of local memory, where registers do not suffice
};

// One family of kernels. All functions act on the calling thread's GPU.
struct gemm_kernel {
  const gemm_family& compiled;
  // The reason why no kernel of the family runs on this GPU; nothing where they can.
  std::optional<std::string> (*cannot_run)();
  // Shared memory of a launch in bytes: enough that a block has an SM to itself.
  std::size_t (*shared_bytes)(const gemm_launch&);
  // Enqueues one launch. Throws api_error.
  void (*launch)(const gemm_launch&, const gemm_operands&, cudaStream_t);
  kernel_needs (*needs)(int instance);
  bool loads_late = false;  // the first launch for a size may load code, and must not wait behind another
  // Multiplies by a recorded twin of one instance, and says what the first block did when; null: there is
  // none.
  std::vector<recorded_row> (*record)(const gemm_operands&) = nullptr;
  int recorded_instance = 0;
};

const gemm_kernel& mma_kernel();  // cp.async producers, mma.sync consumers; compute capability 8.0 and above
const gemm_kernel& wgmma_kernel();   // tensor copies, wgmma consumers; compute capability 9.0
const gemm_kernel& cublas_kernel();  // cuBLAS, which is loaded at the first use

}  // namespace mgsync::pipeline
