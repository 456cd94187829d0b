// What sums on GPUs must hold, and what a barrier costs an application, from the results of one run or of
// several.
#pragma once

#include <span>

#include "src/results/figure.hpp"
#include "src/results/result.hpp"

namespace mgsync::reduction {

// A row for each claim that these results can decide, and nothing where there is none: what, the limit, what
// was measured, whether it holds.
void add_acceptance(std::span<const result>, evaluation&);

// What each way takes longer than reading alone, over sizes; and from how many bytes on two GPUs are faster
// than one.
void add_costs(std::span<const result>, evaluation&);

}  // namespace mgsync::reduction
