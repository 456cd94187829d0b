// What sums cost by size and way, relative to what the same threads read, and from where more threads pay.
#pragma once

#include <span>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::reduction {

evaluation evaluate(std::span<const result>);

}  // namespace mgsync::reduction
