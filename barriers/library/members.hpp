// The members of a library group: each process asks CUDA about its own GPUs and tells the others, and all
// check the whole alike.
#pragma once

#include <string>
#include <vector>

#include "barriers/parts/symmetric_memory/gpu_memory.hpp"

namespace mgsync::library {

struct group_members {
  gpu_members gpus;
  unsigned fewest_sms = 0;  // of any GPU of the group
  std::string name;         // the same in all processes, another of each group
};

// Collective. `node`: the name of the caller's node; if empty, the system's boot id. `wrong_use`: why the
// caller's other arguments are wrong, or empty. Throws usage_error or unsupported_error, in all processes
// alike.
group_members meet(const std::vector<int>& ordinals, int process, byte_exchange, const std::string& node,
                   const std::string& wrong_use);

}  // namespace mgsync::library
