// The ends of kernels as barriers, on GPUs.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_kernel_boundary {

make_function traditional, traditional_threads, cooperative, multi_device, graph, graph_join, stream_memops;

}  // namespace mgsync::gpu_kernel_boundary
