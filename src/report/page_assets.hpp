// The style and the script of a page.
#pragma once

#include <string>
#include <string_view>

namespace mgsync::report {

// Includes the style of the figures.
std::string page_style();
std::string_view page_script();

}  // namespace mgsync::report
