// Files written before quantities existed hold some numbers as texts in `environment` and in the verdict's
// `details`, "mhz" as "1979.8", and what a load reached on each member in notes. They are converted to
// quantities when such a file is read.
#pragma once

#include "src/results/values/result.hpp"

namespace mgsync {

// Moves each such text into the quantities, under its present name. A text that is not a number stays as it
// is.
void take_numbers_from_text(result&);

}  // namespace mgsync
