// `mgsync report FILE...`: what results files say, as text or as a page.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Writes the page (--html FILE), or prints sentences and tables. Two results files with points in common are
// set side by side too. Returns the exit code.
int report_command(const options&);

}  // namespace mgsync
