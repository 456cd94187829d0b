// `mgsync advise [FILE...]`: which barrier for this step, from results files or from a short measurement.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Without files it measures here first, within 20 s. Prints sentences and the barriers, and writes --json.
// Returns the exit code. Throws usage_error where nothing is known of such members.
int advise_command(const options&);

}  // namespace mgsync
