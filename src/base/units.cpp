#include "src/base/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace mgsync {
namespace {

struct known_unit {
  std::string_view name;
  bool of_time;
  double size;  // in seconds, or bytes
};
constexpr double ki = 1024;
constexpr known_unit units[] = {{"ns", true, 1e-9},
                                {"us", true, 1e-6},
                                {"ms", true, 1e-3},
                                {"s", true, 1},
                                {"min", true, 60},
                                {"h", true, 3600},
                                {"B", false, 1},
                                {"kB", false, 1e3},
                                {"KB", false, 1e3},
                                {"MB", false, 1e6},
                                {"GB", false, 1e9},
                                {"TB", false, 1e12},
                                {"PB", false, 1e15},
                                {"KiB", false, ki},
                                {"MiB", false, ki* ki},
                                {"GiB", false, ki* ki* ki},
                                {"TiB", false, ki* ki* ki* ki},
                                {"PiB", false, ki* ki* ki* ki* ki}};

const known_unit* unit_named(std::string_view name) {
  const auto found = std::ranges::find(units, name, &known_unit::name);
  return found == std::end(units) ? nullptr : found;
}

}  // namespace

std::optional<double> in_unit(std::string_view text, std::string_view unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  const auto name = text.substr(static_cast<std::size_t>(end - text.data()));
  if (name.empty() || name == unit) return value;
  const auto *typed = unit_named(name), *wanted = unit_named(unit);
  if (typed == nullptr || wanted == nullptr || typed->of_time != wanted->of_time) return std::nullopt;
  return value * typed->size / wanted->size;
}

std::optional<std::uint64_t> whole_in_unit(std::string_view text, std::string_view unit) {
  std::uint64_t digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error == std::errc() && end == text.data() + text.size()) return digits;
  if (text.find_first_not_of("0123456789.+-e") == std::string_view::npos)
    return std::nullopt;  // no unit, and no digits only
  const auto value = in_unit(text, unit);
  constexpr double exact = 9007199254740992;  // 2^53
  if (!value || *value < 0 || *value > exact) return std::nullopt;
  const double whole = std::round(*value);
  return std::abs(*value - whole) <= 1e-9 * std::max(1.0, whole)
             ? std::optional(static_cast<std::uint64_t>(whole))
             : std::nullopt;
}

std::string size_in_words(double bytes) {
  for (const auto& [unit, name] :
       {std::pair{ki * ki * ki, "GiB"}, std::pair{ki * ki, "MiB"}, std::pair{ki, "KiB"}})
    if (bytes >= unit) return fmt::format("{:.4g} {}", bytes / unit, name);
  return fmt::format("{:.0f} B", bytes);
}

std::string in_digits(double value, int digits) {
  auto text = fmt::format("{:.{}g}", value, digits);
  return text.find("e+") == text.npos ? text : fmt::format("{:.0f}", std::stod(text));
}

std::string counted(std::uint64_t count, std::string_view what, std::string_view more) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : more);
}

}  // namespace mgsync
