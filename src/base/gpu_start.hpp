// Starts CUDA on the GPU that this process will use. Called before MPI_Init, because MPI libraries that
// support GPUs take the current one. In builds with CUDA only.
#pragma once

#include <map>
#include <string>

namespace mgsync {

// Makes CUDA's context on GPU `ordinal` and the GPU current. Throws api_error naming it.
void start_gpu(int ordinal);

// "CUDA toolkit" (built with), "CUDA run time", "CUDA driver API" and, where it is built in, "NCCL" (the one
// found at run time), with their versions.
std::map<std::string, std::string> gpu_software();

}  // namespace mgsync
