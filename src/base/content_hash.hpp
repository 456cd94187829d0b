// SHA-256 and base64: for the Content-Security-Policy of HTML pages, and for pseudonyms of hosts.
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
