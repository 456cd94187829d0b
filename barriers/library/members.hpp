// Who the members of a library group are: asked of CUDA here, told to the other processes, checked by all alike.
#pragma once

#include <vector>

#include "barriers/parts/symmetric_memory/gpu_memory.hpp"

namespace mgsync::library {

struct group_members {
  gpu_members gpus;
  unsigned fewest_sms = 0;  // of any GPU of the group
};

// Collective. Throws usage_error or unsupported_error, in all processes alike.
group_members meet(const std::vector<int>& ordinals, int process, byte_exchange);

}  // namespace mgsync::library
