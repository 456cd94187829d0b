#include "src/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/shown_words.hpp"
#include "src/report/canvas.hpp"

namespace mgsync::report {
namespace {

bool is_number(const table& t, std::size_t column) { return column < t.numbers.size() && t.numbers[column]; }

std::string padded(const std::string& words, std::size_t width, bool right) {
  const auto letters = static_cast<std::size_t>(width_of(words, 1));  // not bytes
  const std::string blanks(width > letters ? width - letters : 0, ' ');
  return right ? blanks + words : words + blanks;
}

}  // namespace

std::string to_text(const table& t) {
  std::vector<std::size_t> widths(t.columns.size());
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < widths.size(); ++c)
      widths[c] = std::max(widths[c], static_cast<std::size_t>(width_of(row.at(c), 1)));
  };
  measure(t.columns);
  for (const auto& row : t.rows) measure(row);
  std::string text = t.heading.title + "\n";
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c)
      line += (c == 0 ? "  " : "  ") + padded(row[c], widths[c], is_number(t, c));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(t.columns);
  for (const auto& row : t.rows) add(row);
  if (!t.heading.caption.empty()) text += "  " + t.heading.caption + "\n";
  return text;
}

std::string to_text(const evaluation& e) {
  std::string text;
  for (const auto& t : e.tables) text += to_text(t) + "\n";
  for (const auto& sentence : e.sentences) text += sentence + "\n";
  return text;
}

std::string to_markdown(const table& t) {
  std::string text = "|";
  for (const auto& name : t.columns) text += fmt::format(" {} |", markdown_cell(name));
  text += "\n|";
  for (std::size_t c = 0; c < t.columns.size(); ++c) text += is_number(t, c) ? "---:|" : "---|";
  for (const auto& row : t.rows) {
    text += "\n|";
    for (const auto& words : row) text += fmt::format(" {} |", markdown_cell(words));
  }
  return text + "\n";
}

}  // namespace mgsync::report
