// `mgsync advise [FILE...]`: which barrier for this step, from results files or from a short measurement.
#pragma once

#include "src/app/options.hpp"
#include "src/report/prediction.hpp"

namespace mgsync {

// The options that describe the step; they are typed like the axes of a study.
declared_axes advise_axes();
// The step as typed: 0 members and no shape where these were not. Throws usage_error.
report::step step_asked(const options&);

// Without files it first measures on this machine, for at most 20 s by default. Prints sentences and the
// barriers, and writes --json. Returns the exit code. Throws usage_error where there are no results for such
// members.
int advise_command(const options&);

}  // namespace mgsync
