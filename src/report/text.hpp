// Evaluations as text for a terminal: sentences, then tables with aligned columns.
#pragma once

#include <string>

#include "src/results/frame/figure.hpp"

namespace mgsync::report {

std::string to_text(const evaluation&);

}  // namespace mgsync::report
