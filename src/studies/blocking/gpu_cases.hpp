// The cases whose participants are lanes, warps, blocks and GPUs.
#pragma once

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// Carries out the case, reports it and ends the process, at the latest two seconds after the case's bound. A
// kernel that neither the guard nor its own time-out ended is ended with the process.
[[noreturn]] void run_gpu_case(const blocking_case&);

}  // namespace mgsync::blocking
