// Rows of words as lines of text, each column as wide as its widest word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace mgsync {

struct column {
  std::string title;
  bool to_the_left = true;  // text; numbers stand to the right
  std::size_t blanks = 2;   // between it and the column before
};

using row_of_words = std::vector<std::string>;  // a word for each column

// The titles and one line for each row, without blanks at its end.
inline std::vector<std::string> aligned_lines(const std::vector<column>& columns,
                                              std::vector<row_of_words> rows) {
  row_of_words titles;
  for (const auto& one : columns) titles.push_back(one.title);
  rows.insert(rows.begin(), titles);
  std::vector<std::size_t> widths(columns.size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], row.at(i).size());
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) line.append(columns[i].blanks, ' ');
      line += columns[i].to_the_left ? fmt::format("{:<{}}", row[i], widths[i])
                                     : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line + '\n');
  }
  return lines;
}

}  // namespace mgsync
