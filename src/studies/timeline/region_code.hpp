// What the machine code of region.cu must be (paper 002), and what was learned of it: plain values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/harness/machine_code/code_check.hpp"

namespace mgsync::timelines {

// Threads of the region's block, as in the paper: four warps. Its shared memory: a word per thread, and what
// loads_16 reads.
inline constexpr unsigned region_threads = 128, region_shared_bytes = 16 * 512 + 4 * region_threads;

// Every kernel of region.cu. Between the clock reads stand the region's own instructions and the two moves of
// the first stamp; all but region_as_compiled begin with everything that they need and end with what they
// loaded.
std::vector<machine_code::expected_code> region_code();

// The same of one kernel; std::invalid_argument where there is none.
machine_code::expected_code region_code_of(const std::string& kernel);

// What region_as_compiled claims to be, and is not: the corrected region. The check refuses it for the
// paper's two reasons: the store waits for an address that is still on its way, and the second read waits for
// no load.
machine_code::expected_code as_compiled_claims();

}  // namespace mgsync::timelines
