// Paper 002's region, single instructions and pairs of them on a GPU, as subjects: a run launches each of
// their kernels once and yields their cycles under their names. No subject is made where the machine code is
// not what it must be; what is wrong with the twin, as the compiler leaves it, stands in what the creation
// found. Builds with CUDA only.
#pragma once

#include "src/harness/study.hpp"
#include "src/studies/timeline/instruction_list.hpp"

namespace mgsync::timelines {

// The region and its parts. A run also carries region_recordings.
subject_creation make_gpu_region(int gpu);
// `varied`: the number of ways or warps; 0 where the instruction has none.
subject_creation make_gpu_instruction(int gpu, const instruction&, unsigned varied);
// All pairs, and each instruction alone.
subject_creation make_gpu_pairs(int gpu);

}  // namespace mgsync::timelines
