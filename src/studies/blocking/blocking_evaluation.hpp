// What the cases mean together: who may be absent, which predictions were wrong, whether the paper's results
// are confirmed, and which barrier holds everybody.
#pragma once

#include <span>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::blocking {

evaluation evaluate(std::span<const result>);

}  // namespace mgsync::blocking
