#include "src/report/text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/report/bars_text.hpp"

namespace mgsync::report {

namespace {

// The words on lines of at most so many columns, where a word is not longer.
std::string broken(std::string_view words, std::size_t columns) {
  std::string text;
  for (std::size_t line = 0; !words.empty();) {
    const auto end = std::min(words.find(' '), words.size());
    if (line != 0 && line + 1 + end > columns) {
      text += '\n';
      line = 0;
    }
    if (line != 0) text += ' ', ++line;
    text += words.substr(0, end);
    line += end;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return text;
}

}  // namespace

std::string to_text(const evaluation& e, const terminal& on) {
  constexpr std::size_t most_charts = 3;
  std::string text;
  for (const auto& t : e.tables) text += to_text(t) + "\n";
  std::size_t drawn = 0;
  std::vector<std::string> others;
  for (const auto& each : e.figures) {
    const auto* const bars = std::get_if<bar_chart>(&each);
    if (bars == nullptr || !bars->in_terminal) continue;
    if (drawn++ < most_charts) text += to_text(*bars, on) + "\n";
    else others.push_back(bars->heading.name);
  }
  if (!others.empty())
    text += fmt::format("The same of other groups and shapes: --figure {}\n\n", fmt::join(others, ", "));
  const auto columns = static_cast<std::size_t>(std::clamp(on.columns, 60, 100));
  for (const auto& sentence : e.sentences) text += (on.window ? broken(sentence, columns) : sentence) + "\n";
  return text;
}

}  // namespace mgsync::report
