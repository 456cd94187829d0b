// The words of docs/glossary.md, which the build embeds, for a page that stands alone.
#pragma once

#include <string>

namespace mgsync::report {

// Folded: every word with its sentence.
std::string html_glossary();

}  // namespace mgsync::report
