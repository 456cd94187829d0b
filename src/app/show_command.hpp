// `mgsync show`: prints what the command that wrote a file printed, the tables of --by, or tables and figures
// of the studies' evaluations.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

int show_results(const options&);

// --tables LIST of the files' evaluations, in Markdown, in this order. Throws usage_error naming the tables
// there are.
int show_tables(const options&);

// --figure NAME of the files' evaluations, to --svg FILE or stdout. Throws usage_error naming the figures
// there are.
int show_figure(const options&);

}  // namespace mgsync
