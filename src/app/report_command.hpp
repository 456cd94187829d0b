// `mgsync report FILE...`: what results files say, as text or as a page; and single figures of `mgsync show`.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Writes the page (--html FILE), or prints sentences and tables. Two results files with points in common are
// set side by side too. Returns the exit code.
int report_command(const options&);

// --tables LIST of the files' evaluations, in Markdown, in this order. Throws usage_error naming the tables
// there are.
int show_tables(const options&);

// --figure NAME of the files' evaluations, to --svg FILE or stdout. Throws usage_error naming the figures
// there are.
int show_figure(const options&);

}  // namespace mgsync
