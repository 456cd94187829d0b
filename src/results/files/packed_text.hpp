// Compressed files of results, in the format of `xz`: a tenth to a fifth of the text's size.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "src/base/bounded_file.hpp"

namespace mgsync {

// Whether this build can compress and decompress (liblzma).
bool can_pack();

// The text of a file's bytes, decompressed if need be. Throws usage_error naming the file where it is
// damaged, too large, or takes longer than `within`, or where this build cannot decompress.
std::string unpacked(std::string bytes, const std::string& file,
                     std::chrono::milliseconds within = longest_reading);

// The text compressed. Throws usage_error where this build cannot.
std::string packed(std::string_view text);

// Whether a file of this name is to be compressed: it ends in ".xz".
bool is_packed_name(std::string_view file);

// Reads a file and decompresses it if need be. Throws usage_error where it cannot be read; `accepted` is what
// the message names as acceptable.
std::string read_text(const std::string& file, std::string_view accepted);

}  // namespace mgsync
