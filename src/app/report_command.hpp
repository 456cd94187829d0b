// `mgsync report FILE...`: evaluates results files, as text or as an HTML page.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Writes the page (--html FILE), or prints sentences and tables. Two results files with points in common are
// also compared. Returns the exit code.
int report_command(const options&);

}  // namespace mgsync
