// Writes elements of SVG, XML and HTML: values and texts are escaped here.
//   element("text", {{"x", 12.5}, {"class", "soft"}}, "a < b")   <text x="12.5" class="soft">a &lt; b</text>
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace mgsync {

// Text as content or as a quoted value; what cannot be shown is spelt as printable() does.
std::string escaped(std::string_view text);

// Numbers that are no integers have one decimal.
struct attribute {
  std::string_view name;
  std::string value;

  attribute(std::string_view called, std::string_view words) : name(called), value(words) {}
  attribute(std::string_view called, double number) : name(called), value(fmt::format("{:.1f}", number)) {}
  attribute(std::string_view called, std::integral auto number)
      : name(called), value(fmt::format("{}", number)) {}
};
using attributes = std::vector<attribute>;

// "<name a="b">": an attribute without a value is left out.
std::string opening(std::string_view name, const attributes&);
// The element around a text, which is escaped, or empty: <name a="b"/>.
std::string element(std::string_view name, const attributes&, std::string_view text = "");
// The element around other elements, which are written already.
std::string enclosing(std::string_view name, const attributes&, std::string_view inside);

// The approximate width in pixels, of letters as wide as these on average.
double width_of(std::string_view words, double letter_px = 6.3);

// As many letters as fit, the last two as "..", and at least four.
std::string fitted(std::string_view words, double width_px, double letter_px = 6.3);

}  // namespace mgsync
