// What the machine code of region.cu must be (paper 002). Plain values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/probes/machine_code/code_check.hpp"

namespace mgsync::timelines {

// The region's block has 128 threads, four warps as in the paper. Its shared memory holds a word per thread,
// and what loads_16 reads.
inline constexpr unsigned region_threads = 128, region_shared_bytes = 16 * 512 + 4 * region_threads;

// The expected code of every kernel of region.cu. Between the clock reads stand only the region's own
// instructions and the two moves of the first stamp. In all kernels but region_as_compiled the first read
// waits for all operands, and the second for all loaded values.
std::vector<machine_code::expected_code> region_code();

// The expected code of one kernel, by its name; std::invalid_argument where there is none.
machine_code::expected_code region_code_of(const std::string& kernel);

// The code of the corrected region under the name region_as_compiled. The check must refuse it for the
// paper's two reasons: the store waits for an address that is still being loaded, and the second clock read
// does not wait for the load.
machine_code::expected_code as_compiled_claims();

}  // namespace mgsync::timelines
