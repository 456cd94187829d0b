// Compressed files of results, in the format of `xz`: a tenth to a fifth of the text's size.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "src/base/bounded_file.hpp"

namespace mgsync {

// Whether this build can compress (liblzma).
bool can_pack();

// The text of a file's bytes, decompressed if need be. Throws usage_error naming the file where it is
// damaged, too large, or takes longer than `within`, or where neither liblzma nor xz is there.
std::string unpacked(std::string bytes, const std::string& file,
                     std::chrono::milliseconds within = longest_reading);

// The same of bytes that are compressed, by the program xz: what a build without liblzma does.
std::string unpacked_by_xz(const std::string& bytes, const std::string& file,
                           std::chrono::milliseconds within = longest_reading);

// The text compressed. Throws usage_error where this build cannot.
std::string packed(std::string_view text);

// Whether a file of this name is to be compressed: it ends in ".xz".
bool is_packed_name(std::string_view file);

// Reads a file and decompresses it if need be. Throws usage_error where it cannot be read; `accepted` is what
// the message names as acceptable.
std::string read_text(const std::string& file, std::string_view accepted);

}  // namespace mgsync
