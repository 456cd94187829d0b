#include "src/results/frame/table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "src/base/printable.hpp"

namespace mgsync {
namespace {

std::string written(double number, const column& in) {
  if (std::isnan(number)) return "-";
  const bool share = in.format.ends_with(" %");
  const auto format = share ? in.format.substr(0, in.format.size() - 2) : in.format;
  if (format.empty() || format == ">") return fmt::format("{}", number);
  return fmt::format(fmt::runtime("{:" + format + "}"), share ? 100 * number : number) + (share ? " %" : "");
}

// The width in characters rather than bytes.
std::size_t letters_of(std::string_view words) {
  return static_cast<std::size_t>(
      std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

column::column(const char* words) : title(words) {
  const auto bar = title.find(" | ");
  if (bar == std::string::npos) return;
  format = title.substr(bar + 3);
  title.resize(bar);
}

table_entry ci95_of(const metric& m, double factor) {
  if (m.of_one_batch()) return missing{"one batch"};
  return range{m.ci95_low * factor, m.ci95_high * factor};
}

std::string table_entry::text(const column& in) const {
  if (const auto* words = std::get_if<std::string>(&holds_)) return *words;
  if (const auto* one = std::get_if<noted>(&holds_))
    return written(one->number, in) + (one->words.empty() ? "" : " " + one->words);
  const auto& both = std::get<range>(holds_);
  return fmt::format("{}{}{}", written(both.low, in), both.between, written(both.high, in));
}

void table::add(const std::vector<table_entry>& entries, std::string source) {
  if (entries.size() != columns.size())
    throw std::invalid_argument(fmt::format("the table {} has {} columns, and a row of {} entries",
                                            heading.name, columns.size(), entries.size()));
  auto& row = rows.emplace_back();
  for (std::size_t i = 0; i < entries.size(); ++i) row.push_back(entries[i].text(columns[i]));
  sources.resize(rows.size());
  sources.back() = std::move(source);
}

std::vector<std::string> aligned_lines(const std::vector<column>& columns,
                                       std::vector<std::vector<std::string>> rows) {
  std::vector<std::string> titles;
  for (const auto& one : columns) titles.push_back(one.title);
  rows.insert(rows.begin(), std::move(titles));
  std::vector<std::size_t> widths(columns.size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], letters_of(row.at(i)));
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string blanks(widths[i] - letters_of(row[i]), ' ');
      if (i > 0) line.append(columns[i].blanks, ' ');
      line += columns[i].is_right() ? blanks + row[i] : row[i] + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line + '\n');
  }
  return lines;
}

std::string to_text(const table& t) {
  std::string text = t.heading.title + "\n";
  for (const auto& line : aligned_lines(t.columns, t.rows)) text += "  " + line;
  return text + (t.heading.caption.empty() ? "" : "  " + t.heading.caption + "\n");
}

std::string to_markdown(const table& t) {
  std::string text = "|";
  for (const auto& one : t.columns) text += fmt::format(" {} |", markdown_cell(one.title));
  text += "\n|";
  for (const auto& one : t.columns) text += one.is_right() ? "---:|" : "---|";
  for (const auto& row : t.rows) {
    text += "\n|";
    for (const auto& words : row) text += fmt::format(" {} |", markdown_cell(words));
  }
  return text + "\n";
}

}  // namespace mgsync
