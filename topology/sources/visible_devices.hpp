// Checks a value of CUDA_VISIBLE_DEVICES. CUDA itself does not report errors in it, but only shows fewer
// GPUs.
#pragma once

#include <string>
#include <string_view>

#include "topology/sources/gpu_answers.hpp"

namespace mgsync::topology {

// One sentence, or empty when every entry (index, GPU-UUID or its beginning, MIG-UUID, MIG-GPU-UUID/gi/ci)
// names one GPU that NVML lists. Pure.
std::string visible_devices_problem(std::string_view value, const nvml_answer&);

}  // namespace mgsync::topology
