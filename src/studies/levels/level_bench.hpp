// This study's probes on one GPU, as subjects.
#pragma once

#include <functional>

#include "src/harness/study.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

// Makes the subject of a point, or gives the reason why there is none: a probe whose machine code is not what
// it must be is not measured.
using subject_maker = std::function<subject_creation(const level_probe&)>;

// A maker for the GPU `ordinal`. What the subjects share (the code of the probes, rings in memory) is loaded
// on first use, and lives as long as the maker. A run of a latency takes order.count links and yields
// "cycles", a sample for each pass; "sms_used", the number of SMs that its blocks ran on; "first_sm", the
// lowest of them; and for L2 and DRAM "sm", the SM of each sample. A run of a throughput yields "per_cycle"
// for each SM, links times warps per cycle. A run by the host's clock yields "duration_us". Creating a
// subject finds the SM's "clock", and "code".
subject_maker probes_on(int ordinal);

}  // namespace mgsync::levels
