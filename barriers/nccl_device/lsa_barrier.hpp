// The nccl-device backend's part that calls NCCL.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::gpu_nccl_device {

make_function hub, per_block, hub_relay;

}  // namespace mgsync::gpu_nccl_device
