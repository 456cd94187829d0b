// Who the members of a library group are: asked of CUDA here, told to the other processes, checked by all
// alike.
#pragma once

#include <string>
#include <vector>

#include "barriers/parts/symmetric_memory/gpu_memory.hpp"

namespace mgsync::library {

struct group_members {
  gpu_members gpus;
  unsigned fewest_sms = 0;  // of any GPU of the group
};

// Collective. `node` names the caller's, empty: the boot of its system does. `wrong_use`: what else the
// caller asked for wrongly, if anything. Throws usage_error or unsupported_error, in all processes alike.
group_members meet(const std::vector<int>& ordinals, int process, byte_exchange, const std::string& node,
                   const std::string& wrong_use);

}  // namespace mgsync::library
