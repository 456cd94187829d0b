// `mgsync audit FILE...`: what src/audit finds in other people's kernels.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

int audit_command(const options&);

}  // namespace mgsync
