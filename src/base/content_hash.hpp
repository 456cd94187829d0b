// SHA-256: by which a page's content policy names its own style and script, and names stand for what shall
// not be told. And bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace mgsync {

std::string base64(std::string_view bytes);

// The 32 bytes of FIPS 180-4.
std::string sha256(std::string_view text);

// "sha256-<base64>", as Content-Security-Policy wants it.
std::string content_hash(std::string_view text);

}  // namespace mgsync
