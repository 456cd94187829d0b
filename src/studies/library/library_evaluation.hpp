// Results of study library as tables: what sync() takes over the algorithm alone, a stencil's step in each
// way, and the fences beside GPUs that wait.
#pragma once

#include <span>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::library {

evaluation evaluate(std::span<const result>);

}  // namespace mgsync::library
