// Suggests the accepted word that was probably meant by a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace mgsync {

// The accepted word that takes the fewest edits to reach, if it takes few enough to be what was meant.
std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> accepted);

}  // namespace mgsync
