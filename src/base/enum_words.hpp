// Enumerations that stand in files and on the command line: one word for each value, for writing and for
// reading.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mgsync {

// Specialised for each enumeration: `static constexpr std::pair<Enum, std::string_view> list[]`, every value
// once.
template <class Enum>
struct enum_words;

template <class Enum>
concept worded = requires {
  enum_words<Enum>::list;
};

template <worded Enum>
constexpr std::string_view to_string(Enum value) {
  for (const auto& [one, word] : enum_words<Enum>::list)
    if (one == value) return word;
  return {};
}

template <worded Enum>
constexpr std::optional<Enum> from_word(std::string_view text) {
  for (const auto& [one, word] : enum_words<Enum>::list)
    if (word == text) return one;
  return std::nullopt;
}

// "measured, waived, failed": for messages.
template <worded Enum>
std::string accepted_words() {
  std::string text;
  for (const auto& [one, word] : enum_words<Enum>::list) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

}  // namespace mgsync
