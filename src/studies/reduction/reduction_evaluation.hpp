// What sums cost by size and way, relative to what the same threads read, and from where more threads pay.
#pragma once

#include <span>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::reduction {

evaluation evaluate(std::span<const result>);

// Adds a row for each expectation that these results can decide: what, the bound, the measured value, and
// whether it holds.
void add_acceptance(std::span<const result>, evaluation&);

// Whether the host's launch calls take as long as the sums: then it is them that the time is of.
bool is_host_bound(const result&);

// Adds what each way takes longer than reading alone, over sizes; and from how many bytes on two GPUs are
// faster than one.
void add_costs(std::span<const result>, evaluation&);

}  // namespace mgsync::reduction
