// Writes a timeline in the "Trace Event Format" of the Chromium project, which chrome://tracing and
// ui.perfetto.dev open: complete events, a track for each row.
#pragma once

#include <string>

#include "src/results/frame/figure.hpp"

namespace mgsync {

// The JSON document. The viewers know microseconds only, so a timeline in cycles shows each cycle as a
// nanosecond, and the document says so. Throws std::invalid_argument where events of one track overlap or end
// before they begin (viewers drop or nest those), and for a unit other than ns, us, ms and cycles.
std::string to_chrome_trace(const timeline&);

}  // namespace mgsync
