// `mgsync merge FILE...`: the stores and documents of a sweep in parts, as one.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Prints the table of all points and writes --json, --csv and --store (a new file). Returns what measuring
// them in one go would have. Throws usage_error for files that are none, or of machines that differ by more
// than --across allows.
int merge_command(const options&);

}  // namespace mgsync
