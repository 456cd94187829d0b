// Parses the values of options. Each function throws usage_error, which names the option, the word and what
// is accepted.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mgsync {

std::uint64_t whole(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most);
// "2", "2s", "500ms", "1min": from 1 ms to a day.
std::chrono::nanoseconds duration(std::string_view option, std::string_view text);
// "0.01", "1%": above 0 and up to 1.
double fraction(std::string_view option, std::string_view text);
// "0.1", "10%": from 0 to 10.
double excess(std::string_view option, std::string_view text);
std::string one_of(std::string_view option, std::string_view text,
                   std::span<const std::string_view> accepted);

}  // namespace mgsync
