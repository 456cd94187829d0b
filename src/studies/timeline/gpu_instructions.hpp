// Single instructions and pairs of them on a GPU, as subjects. Builds with CUDA only.
#pragma once

#include "src/harness/study.hpp"
#include "src/studies/timeline/instruction_list.hpp"

namespace mgsync::timelines {

// One instruction as a subject: a run launches each of its kernels once and yields their cycles under their
// names. `varied`: the number of ways or warps; 0 where the instruction has none. No subject is made where
// the machine code is not what it must be; what is wrong with the twin stands in what the creation found.
subject_creation make_gpu_instruction(int gpu, const instruction&, unsigned varied);
// The same for all pairs of instructions, and for each instruction alone.
subject_creation make_gpu_pairs(int gpu);

}  // namespace mgsync::timelines
