// A timeline in the trace event format that chrome://tracing and ui.perfetto.dev open ("Trace Event Format",
// the Chromium project): complete events, a track for each row.
#pragma once

#include <string>

#include "src/results/figure.hpp"

namespace mgsync {

// The JSON document. The viewers know microseconds only, so a timeline in cycles is shown with a nanosecond
// for each cycle, and the document says so. Throws std::invalid_argument where events of one track overlap or
// end before they begin (viewers drop or nest those), and for a unit that is none of ns, us, ms, cycles.
std::string to_chrome_trace(const timeline&);

}  // namespace mgsync
