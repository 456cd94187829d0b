// What a page's content policy names its own style and script by, and bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace mgsync::report {

std::string base64(std::string_view bytes);

// "sha256-<base64>", as Content-Security-Policy wants it (FIPS 180-4).
std::string content_hash(std::string_view text);

}  // namespace mgsync::report
