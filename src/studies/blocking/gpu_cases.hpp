// The cases whose participants are lanes, warps, blocks and GPUs.
#pragma once

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// Says what came of the case and ends the process, at the latest two seconds after the case's bound: a kernel
// that neither the guard nor its own waits ended goes with the process.
[[noreturn]] void run_gpu_case(const blocking_case&);

}  // namespace mgsync::blocking
