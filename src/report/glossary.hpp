// The glossary (docs/glossary.md, embedded by the build) for a page that needs no other file.
#pragma once

#include <string>

namespace mgsync::report {

// A folded section with every word and its sentence.
std::string html_glossary();

}  // namespace mgsync::report
