// Rows of words as lines of text, each column as wide as its widest word.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace mgsync {

struct column {
  std::string_view title;
  bool to_the_left = true;   // text; numbers stand to the right
  std::size_t blanks = 2;    // between it and the column before
};

template <std::size_t N>
using row_of_words = std::array<std::string, N>;

// One line for each row, without blanks at its end; the titles are a row like any other.
template <std::size_t N>
std::vector<std::string> aligned_lines(const std::array<column, N>& columns, const std::vector<row_of_words<N>>& rows) {
  std::array<std::size_t, N> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < N; ++i) widths[i] = std::max(widths[i], row[i].size());
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < N; ++i) {
      if (i > 0) line.append(columns[i].blanks, ' ');
      line += columns[i].to_the_left ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line + '\n');
  }
  return lines;
}

template <std::size_t N>
row_of_words<N> titles_of(const std::array<column, N>& columns) {
  row_of_words<N> titles;
  for (std::size_t i = 0; i < N; ++i) titles[i] = columns[i].title;
  return titles;
}

}  // namespace mgsync
