// Starts CUDA on the GPU that this process will use, before MPI is: MPI libraries that know GPUs take the
// current one. Of builds with CUDA.
#pragma once

#include <map>
#include <string>

namespace mgsync {

// Makes CUDA's context on GPU `ordinal` and the GPU current. Throws api_error naming it.
void start_gpu(int ordinal);

// "CUDA toolkit" (built with), "CUDA run time", "CUDA driver API" and, where it is built in, "NCCL" (found):
// their versions.
std::map<std::string, std::string> gpu_software();

}  // namespace mgsync
