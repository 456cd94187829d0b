// Bar charts in characters, for a terminal.
#pragma once

#include <string>

#include "src/base/terminal.hpp"
#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// A line for each bar: its name, its value with the interval, the bar from zero, and a line for the interval
// at its end. At most 100 columns wide, or as wide as the terminal if that is narrower (but at least 60).
std::string to_text(const bar_chart&, const terminal&);

}  // namespace mgsync::report
