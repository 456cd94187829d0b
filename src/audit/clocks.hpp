// Examines the reads of the SM's cycle counter in one function.
#pragma once

#include "src/audit/findings.hpp"

namespace mgsync::audit {

// Counts the clock reads and, in machine code, finds results that the second of two reads does not wait for.
void look_at_clocks(const function&, report&);

}  // namespace mgsync::audit
