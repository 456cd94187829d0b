// Which of mgsync's barriers the multigrid backend's `auto` and the library run: pure, from measurements.
#pragma once

#include "barriers/algorithm/grid_choice.hpp"

namespace mgsync {

// On `members` GPUs of `sms` SMs (the GPU with the fewest) with `blocks` blocks each, and why.
algorithm::grid_choice choose_multigrid(unsigned members, unsigned blocks, unsigned sms);

}  // namespace mgsync
