#include "src/report/bars_text.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "src/report/figure_data.hpp"

namespace mgsync::report {
namespace {

// The characters that bars are made of.
struct brush {
  std::string_view full, pale, low, line, high;
  std::string_view parts[8];  // of a character, from nothing to seven eighths
};
constexpr brush in_unicode{"█", "░", "├", "─", "┤", {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}};
constexpr brush in_ascii{"#", ".", "|", "-", "|", {"", "", "", "", "", "", "", ""}};

constexpr std::size_t most_lines = 16;

// The bar, and the interval where it is wider than a character.
std::string drawn(const bar& one, double per_character, const brush& with) {
  const double length = sum_of(one) / per_character;
  const auto low = one.low ? std::lround(*one.low / per_character) : 0L;
  const auto high = one.high ? std::lround(*one.high / per_character) : 0L;
  const bool wide = one.low && one.high && high - low >= 2;
  const auto whole = wide ? low : static_cast<long>(length);
  std::string text;
  for (long i = 0; i < whole; ++i) text += one.reference ? with.pale : with.full;
  if (!wide) {
    if (!one.reference)
      text += with.parts[static_cast<std::size_t>((length - static_cast<double>(whole)) * 8)];
    return text;
  }
  text += with.low;
  for (long i = low + 1; i < high; ++i) text += with.line;
  return text.append(with.high);
}

}  // namespace

std::string to_text(const bar_chart& chart, const terminal& on) {
  const auto bars = std::span(chart.bars).first(std::min(chart.bars.size(), most_lines));
  std::size_t name = 0;
  double most = 0;
  std::vector<std::string> values;
  std::size_t value = 0;
  for (const auto& one : bars) {
    name = std::max(name, one.name.size());
    most = std::max({most, sum_of(one), one.high.value_or(0)});
    values.push_back(fmt::format("{:.4g}", sum_of(one)));
    value = std::max(value, values.back().size());
  }
  std::size_t note = 0;
  for (const auto& one : bars) note = std::max(note, one.note.empty() ? 0 : one.note.size() + 1);
  const auto columns = static_cast<std::size_t>(std::clamp(on.columns, 60, 100));
  const auto taken = 2 + name + 2 + value + 2 + note;
  const auto room = static_cast<double>(taken + 12 > columns ? 12 : columns - taken - 1);
  std::string text = fmt::format("{}: {}\n", chart.heading.title, chart.values.label);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto& one = bars[i];
    text += fmt::format("  {:<{}}  {:>{}}  {}{}{}\n", one.name, name, values[i], value,
                        drawn(one, most / room, on.unicode ? in_unicode : in_ascii),
                        one.note.empty() ? "" : " ", one.note);
  }
  if (bars.size() < chart.bars.size())
    text += fmt::format("  and {} more that {} longer\n", chart.bars.size() - bars.size(),
                        chart.bars.size() - bars.size() == 1 ? "takes" : "take");
  return text;
}

}  // namespace mgsync::report
