// The nccl backend's part that calls NCCL.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_nccl {

make_function stream, graph, stream_registered, graph_registered;

}  // namespace mgsync::gpu_nccl
