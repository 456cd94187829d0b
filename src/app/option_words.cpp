#include "src/app/option_words.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view accepted) {
  throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, value, accepted));
}

// The text as a number; nothing unless all of it is one.
template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Reads 0.1 or 10%; NaN for anything else, which no bounds accept.
double share(std::string_view text) {
  const bool percent = text.ends_with('%');
  return number<double>(percent ? text.substr(0, text.size() - 1) : text).value_or(NAN) / (percent ? 100 : 1);
}

}  // namespace

std::uint64_t whole(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value < least || *value > most)
    refuse(option, text, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

std::chrono::nanoseconds duration(std::string_view option, std::string_view text) {
  const double seconds = in_unit(text, "s").value_or(0);
  if (!(seconds >= 1e-3 && seconds <= 86400))
    refuse(option, text, "a time from 1ms to 24h, such as 500ms, 2s, 5min (seconds without a unit)");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

double fraction(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a share above 0 and up to 1, such as 0.01 or 1%";
  const double value = share(text);
  if (!(value > 0 && value <= 1)) refuse(option, text, accepted);
  return value;
}

double excess(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a share from 0 to 10, such as 0.1 or 10%";
  const double value = share(text);
  if (!(value >= 0 && value <= 10)) refuse(option, text, accepted);
  return value;
}

std::string one_of(std::string_view option, std::string_view text,
                   std::span<const std::string_view> accepted) {
  for (const auto word : accepted)
    if (word == text) return std::string(text);
  refuse(option, text, fmt::format("{}", fmt::join(accepted, ", ")));
}

}  // namespace mgsync
