// Reads of the SM's cycle counter, in one function by itself.
#pragma once

#include "src/audit/findings.hpp"

namespace mgsync::audit {

// Counts them, and looks in machine code for results that the second of two does not wait for.
void look_at_clocks(const function&, report&);

}  // namespace mgsync::audit
