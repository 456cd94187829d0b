// Every sum of every timed run is right, and a sum that leaves a number out is found.
#pragma once

#include <cstdint>
#include <memory>

#include "src/harness/checker.hpp"

namespace mgsync::reduction {

// The fault that a checking run may ask for: the last number is left out.
inline constexpr const char* leave_out_the_last = "leave out the last number";

std::unique_ptr<checker> make_sum_checker();

// What a run says of its sums, as the checker takes it. A run of which a sum is wrong ends as wrong, unless
// it was asked for the fault.
void tell_of_sums(std::uint64_t sums, std::uint64_t wrong, bool fault_was_asked, seen& came);

}  // namespace mgsync::reduction
