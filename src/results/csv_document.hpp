// Results as comma-separated values (RFC 4180, lines end in CR LF): one row per point, the same columns always.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/results/result.hpp"

namespace mgsync {

// The header and one row per result. What was not measured is an empty field. Lists are joined by blanks, notes by
// "; ".
std::string format_csv(std::span<const result> results);

// One field, in quotes where RFC 4180 asks for them.
std::string csv_field(std::string_view text);

}  // namespace mgsync
