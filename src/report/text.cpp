#include "src/report/text.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/report/bars_text.hpp"

namespace mgsync::report {

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
  for (const auto& sentence : e.sentences) text += sentence + "\n";
  return text;
}

}  // namespace mgsync::report
