// Machine code uses a register again and again, for values that have nothing to do with each other.
#pragma once

#include "src/audit/code.hpp"

namespace mgsync::audit {

// Gives a number of its own to each value that a register holds, as PTX has it: writes that some step may
// both read are one. Each step's `next` must be known.
void separate_values(function&);

}  // namespace mgsync::audit
