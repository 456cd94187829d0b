#include "src/base/markup.hpp"

#include <algorithm>
#include <cstddef>

#include "src/base/printable.hpp"

namespace mgsync {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
    case '&': safe += "&amp;"; break;
    case '<': safe += "&lt;"; break;
    case '>': safe += "&gt;"; break;
    case '"': safe += "&quot;"; break;
    case '\t': safe += ' '; break;
    default: safe += c;
    }
  }
  return safe;
}

std::string opening(std::string_view name, const attributes& some) {
  std::string tag = "<" + std::string(name);
  for (const auto& one : some)
    if (!one.value.empty()) tag += fmt::format(" {}=\"{}\"", one.name, escaped(one.value));
  return tag + ">";
}

std::string element(std::string_view name, const attributes& some, std::string_view text) {
  return enclosing(name, some, escaped(text));
}

std::string enclosing(std::string_view name, const attributes& some, std::string_view inside) {
  auto tag = opening(name, some);
  if (inside.empty()) return tag.insert(tag.size() - 1, "/");
  return fmt::format("{}{}</{}>", tag, inside, name);
}

double width_of(std::string_view words, double letter_px) {
  const auto letters = std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return static_cast<double>(letters) * letter_px;
}

std::string fitted(std::string_view words, double width_px, double letter_px) {
  if (width_of(words, letter_px) <= std::max(4 * letter_px, width_px)) return std::string(words);
  const double most = std::max(4.0, width_px / letter_px);
  std::size_t end = 0;
  for (double letters = 0; end < words.size(); ++end)  // never inside of a letter of several bytes
    if ((words[end] & 0xc0) != 0x80 && ++letters > most - 2) break;
  return std::string(words.substr(0, end)) + "..";
}

}  // namespace mgsync
