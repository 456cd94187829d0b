// Evaluations as text for a terminal: sentences, then tables with aligned columns.
#pragma once

#include <string>

#include "src/results/figure.hpp"

namespace mgsync::report {

std::string to_text(const table&);
std::string to_text(const evaluation&);

// The same table for a page of documents.
std::string to_markdown(const table&);

}  // namespace mgsync::report
