// Checks that every sum of every timed run is right; as the positive control, a sum that leaves a number out
// must be noticed.
#pragma once

#include <cstdint>
#include <memory>

#include "src/harness/checker.hpp"

namespace mgsync::reduction {

// The fault of the positive control: the last number is left out.
inline constexpr const char* leave_out_the_last = "leave out the last number";

std::unique_ptr<checker> make_sum_checker();

// Writes the counts of sums and of wrong sums into a run, for the checker. A run with wrong sums ends as
// ending::wrong, unless the fault was asked for.
void tell_of_sums(std::uint64_t sums, std::uint64_t wrong, bool fault_was_asked, seen& came);

}  // namespace mgsync::reduction
