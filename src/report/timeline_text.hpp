// Timelines in characters, for a terminal.
#pragma once

#include <string>

#include "src/base/terminal.hpp"
#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// A line for each row of the picture (merged_rows), a letter for each kind of event, a dot where there is
// none, and below them what the letters stand for. At most 100 columns wide, or as wide as the terminal if
// that is narrower (but at least 60). A column shows the event that takes most of it.
std::string to_text(const timeline&, const terminal&);

}  // namespace mgsync::report
