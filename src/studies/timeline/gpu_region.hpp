// Paper 002's region and its parts on a GPU, as a subject. Builds with CUDA only.
#pragma once

#include "src/harness/study.hpp"

namespace mgsync::timelines {

// A run launches every kernel of region.cu once and yields its cycles under its name; the run also carries
// region_recordings. No subject is made where the machine code of a kernel is not what it must be.
subject_creation make_gpu_region(int gpu);

}  // namespace mgsync::timelines
