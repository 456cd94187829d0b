// Built without CUDA.
#include "src/base/gpu_start.hpp"

namespace mgsync {

void start_gpu(int) {}
std::map<std::string, std::string> gpu_software() { return {}; }

}  // namespace mgsync
