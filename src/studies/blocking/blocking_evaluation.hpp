// What the cases say together: who may be absent, which predictions did not come true, whether the paper's
// cells did, and which barrier holds everybody.
#pragma once

#include <span>

#include "src/results/figure.hpp"
#include "src/results/result.hpp"

namespace mgsync::blocking {

evaluation evaluate(std::span<const result>);

}  // namespace mgsync::blocking
