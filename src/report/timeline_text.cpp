#include "src/report/timeline_text.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "src/report/timeline_picture.hpp"

namespace mgsync::report {
namespace {

constexpr std::size_t most_rows = 24;
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// The letter of each kind of event; those beyond the letters share the last one.
std::map<std::string, char> letters_of(const timeline& t) {
  std::map<std::string, char> all;
  for (const auto& one : t.tracks)
    for (const auto& e : one.events)
      all.try_emplace(e.name, letters[std::min(all.size(), letters.size() - 1)]);
  return all;
}

std::string line_of(const merged_row& row, double low, double per_column, std::size_t columns,
                    const std::map<std::string, char>& letter) {
  std::string line(columns, '.');
  std::vector<double> most(columns, 0);  // how much of a column its event takes
  for (const auto& e : row.events) {
    const double begin = (e.begin - low) / per_column, end = (e.end - low) / per_column;
    const auto first = std::min(static_cast<std::size_t>(begin), columns - 1);
    for (auto c = first; c < columns && static_cast<double>(c) <= end; ++c) {
      const double taken =
          std::min(end, static_cast<double>(c + 1)) - std::max(begin, static_cast<double>(c));
      if (taken < most[c] || (taken == 0 && line[c] != '.')) continue;
      most[c] = taken;
      line[c] = letter.at(e.name);
    }
  }
  return line;
}

}  // namespace

std::string to_text(const timeline& t, const terminal& on) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& one : t.tracks)
    for (const auto& e : one.events) low = std::min(low, e.begin), high = std::max(high, e.end);
  if (!(low < high)) return "no bar to draw: no range has its begin and its end here\n";
  const auto rows = merged_rows(t, most_rows);
  const auto shown = std::min(rows.size(), most_rows);
  std::size_t name = 0;
  for (std::size_t i = 0; i < shown; ++i) name = std::max(name, rows[i].name.size());
  const auto wide = static_cast<std::size_t>(std::clamp(on.columns, 60, 100));
  const auto columns = std::max<std::size_t>(wide - std::min(name + 2, wide), 20);
  const double per_column = (high - low) / static_cast<double>(columns);
  const auto letter = letters_of(t);
  std::string text = t.heading.title + "\n";
  for (std::size_t i = 0; i < shown; ++i)
    text +=
        fmt::format("{:<{}}  {}\n", rows[i].name, name, line_of(rows[i], low, per_column, columns, letter));
  if (shown < rows.size()) text += fmt::format("{} more rows\n", rows.size() - shown);
  const auto end = fmt::format("{:.6g} {}", high - low, t.unit);
  text += fmt::format("{:<{}}  {:<{}}{}\n", "", name, "0", columns - std::min(columns - 1, end.size()), end);
  for (const auto& [what, how] : letter) text += fmt::format("  {} {}\n", how, what);
  return text;
}

}  // namespace mgsync::report
