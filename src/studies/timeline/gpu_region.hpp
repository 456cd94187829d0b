// Paper 002's region and its parts on a GPU, as a subject. Builds with CUDA only.
#pragma once

#include "src/harness/study.hpp"

namespace mgsync::timelines {

// A run launches every kernel of region.cu once and yields its cycles under its name; its own value are the
// region_recordings. Kernels whose machine code is not what they say make no
// subject.
subject_creation make_gpu_region(int gpu);

}  // namespace mgsync::timelines
