// Built without CUDA.
#include "src/base/gpu_start.hpp"

namespace mgsync {

void start_gpu(int) {}

}  // namespace mgsync
