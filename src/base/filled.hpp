// Formats text like fmt::format, for the sources of the library, which need no package but the CUDA toolkit.
//
//     filled("{} blocks on GPU {}", blocks, ordinal)
//
// That there are as many places as values is checked by the compiler. Values are texts, characters, integers
// and numbers (six digits); of another type they do not compile.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace mgsync {

template <class... Values>
class text_with_places {
 public:
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view>
  consteval text_with_places(const Text& text) : text_(text) {  // a string literal
    std::size_t places = 0;
    for (std::size_t i = 0; i + 1 < text_.size(); ++i)
      places += text_[i] == '{' && text_[i + 1] == '}' ? 1 : 0;
    if (places != sizeof...(Values)) throw "as many {} as values";
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

inline void append_value(std::string& to, std::string_view value) { to += value; }
template <std::integral Number>
requires(!std::same_as<Number, bool> && !std::same_as<Number, char>) void append_value(std::string& to,
                                                                                       Number value) {
  char digits[24];
  to.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
template <std::same_as<char> Character>
void append_value(std::string& to, Character value) {
  to += value;
}
template <std::floating_point Number>
void append_value(std::string& to, Number value) {
  char digits[32];
  to.append(digits,
            static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%g", static_cast<double>(value))));
}

template <class... Values>
std::string filled(text_with_places<std::type_identity_t<Values>...> pattern, const Values&... values) {
  std::string made;
  std::string_view rest = pattern.text();
  [[maybe_unused]] const auto fill = [&](const auto& value) {
    const auto place = rest.find("{}");
    made += rest.substr(0, place);
    append_value(made, value);
    rest.remove_prefix(place + 2);
  };
  (fill(values), ...);
  return made += rest;
}

}  // namespace mgsync
