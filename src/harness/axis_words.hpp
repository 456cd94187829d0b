// Words of a study's axes, held against what the axis takes. A word that is none ends in a usage_error that names the accepted ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mgsync {

// `option` as it is typed, without the dashes: "gpu-is-mine".
void check_words(std::string_view option, std::span<const std::string> words, std::span<const std::string_view> accepted);

// A whole number from `least` to `most`.
std::uint64_t checked_number(std::string_view option, const std::string& word, std::uint64_t least, std::uint64_t most);

}  // namespace mgsync
