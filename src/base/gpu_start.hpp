// Starts CUDA on the GPU that this process will use, before MPI is: MPI libraries that know GPUs take the current one.
#pragma once

namespace mgsync {

// Makes CUDA's context on GPU `ordinal` and the GPU current. Throws api_error naming it. Nothing without CUDA.
void start_gpu(int ordinal);

}  // namespace mgsync
