// Single instructions and pairs of them on a GPU, as subjects. Builds with CUDA only.
#pragma once

#include "src/harness/study.hpp"
#include "src/studies/timeline/instruction_list.hpp"

namespace mgsync::timelines {

// A run launches every kernel of the instruction once and yields its cycles under its name. `varied`: of how
// many ways, or warps; 0: it is not varied. Kernels whose machine code is not what they say make no subject;
// nor does a twin that the check lets pass.
subject_creation make_gpu_instruction(int gpu, const instruction&, unsigned varied);
// The same of all pairs and of what they are made of.
subject_creation make_gpu_pairs(int gpu);

}  // namespace mgsync::timelines
