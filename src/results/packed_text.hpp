// Files of results in a packed form: as `xz` makes them, a tenth to a fifth of the text's size.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "src/base/bounded_file.hpp"

namespace mgsync {

// Whether this build can pack and unpack (liblzma).
bool can_pack();

// A file's text: what is packed is unpacked, anything else is the text itself. Throws usage_error naming the
// file where it is damaged, too large, or takes longer than `within`, or where this build cannot unpack.
std::string unpacked(std::string bytes, const std::string& file,
                     std::chrono::milliseconds within = longest_reading);

// Throws usage_error where this build cannot.
std::string packed(std::string_view text);

// Whether a file of this name is to be packed: ".xz" at its end.
bool is_packed_name(std::string_view file);

// The text of a file, unpacked. Throws usage_error where it cannot be read: `accepted` says what could.
std::string read_text(const std::string& file, std::string_view accepted);

}  // namespace mgsync
