// `mgsync advise [FILE...]`: which barrier for this step, from results files or from a short measurement.
#pragma once

#include "src/app/options.hpp"
#include "src/report/prediction.hpp"

namespace mgsync {

// What may be said of the step; typed like the axes of a study.
declared_axes advise_axes();
// What was said of it: 0 members and no shape where nothing was. Throws usage_error.
report::step step_asked(const options&);

// Without files it measures here first, within 20 s. Prints sentences and the barriers, and writes --json.
// Returns the exit code. Throws usage_error where nothing is known of such members.
int advise_command(const options&);

}  // namespace mgsync
