// Evaluations as text for a terminal: tables with aligned columns, the bar charts that belong there,
// sentences.
#pragma once

#include <string>

#include "src/base/terminal.hpp"
#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// Sentences are broken into lines where somebody looks, and stand on one line each in a file. Of the bar
// charts that are `in_terminal` the first three; the names of the others.
std::string to_text(const evaluation&, const terminal&);

}  // namespace mgsync::report
