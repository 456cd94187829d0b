// What sums cost by size and way, as shares of what the same threads read, and where more threads begin to
// pay.
#pragma once

#include <span>

#include "src/results/figure.hpp"
#include "src/results/result.hpp"

namespace mgsync::reduction {

evaluation evaluate(std::span<const result>);

}  // namespace mgsync::reduction
