// This study's probes on one GPU, as subjects.
#pragma once

#include <functional>

#include "src/harness/study.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

// Makes the subject of a point, or says why there is none: a probe whose machine code is not what it says has
// no figure.
using subject_maker = std::function<subject_creation(const level_probe&)>;

// On the GPU `ordinal`. What the subjects share (the probes' code, rings in memory) is loaded when the first
// needs it, and lives as long as the maker. A run of a latency is of order.count links and yields "cycles", a
// sample for each pass, "sms_used", on how many SMs its blocks were, "first_sm", the lowest of them, and of
// L2 and DRAM "sm", where each was taken; of a throughput "per_cycle", links of warps per cycle, for each SM;
// by the host's clock "duration_us". Creations find the SM's "clock", and "code".
subject_maker probes_on(int ordinal);

}  // namespace mgsync::levels
