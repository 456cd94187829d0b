#include "src/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "src/base/markup.hpp"

extern const unsigned char mgsync_glossary[];  // made by cmake/embed.cmake; ends with a zero

namespace mgsync::report {
namespace {

// Text without the marks of Markdown.
std::string without_marks(std::string_view markdown) {
  std::string plain;
  for (const char c : markdown)
    if (c != '*' && c != '`') plain += c;
  return plain;
}

}  // namespace

std::string html_glossary() {
  std::string_view rest = reinterpret_cast<const char*>(mgsync_glossary);
  std::string rows;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    constexpr std::string_view before = "| **", between = " | ", after = " |";
    const auto middle = line.find(between);
    if (!line.starts_with(before) || !line.ends_with(after) || middle == line.npos) continue;
    const auto word = line.substr(2, middle - 2);
    const auto meaning =
        line.substr(middle + between.size(), line.size() - middle - between.size() - after.size());
    rows += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(without_marks(word)),
                        escaped(without_marks(meaning)));
  }
  return "<details id=\"glossary\"><summary>what the words mean</summary><dl>\n" + rows + "</dl></details>\n";
}

}  // namespace mgsync::report
