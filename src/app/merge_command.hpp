// `mgsync merge FILE...`: joins the stores and documents of a sweep that was measured in parts.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Prints the table of all points and writes --json, --csv and --store (a new file). Returns the exit code of
// measuring all points at once. Throws usage_error for files that are not results, or of machines that differ
// by more than --across allows.
int merge_command(const options&);

}  // namespace mgsync
