// The numbers that the papers print, from papers.csv beside this file, which the build embeds. Studies name a
// cell rather than repeat its number:
//     published("000", "table III", "32", "V100", "bandwidth")->value   // 19.6
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

// One cell of a paper's table, or one number of its text.
struct paper_number {
  std::string paper;     // "000" to "004"; of what is no paper, whose number it is: "CUB"
  std::string place;     // "table II", "figure 4", "text"
  std::string row;       // the row's name in the paper, or a description
  std::string machine;   // "V100", "P100"
  std::string quantity;  // "latency"
  std::string unit;
  double value = 0;
  std::string quoted;  // the number as printed in the paper's text; empty: it was read from a figure
};

// All of them, in the order of the file. Throws std::runtime_error where the file is malformed.
std::span<const paper_number> paper_numbers();
// Reads a text in the form of papers.csv, which tests use too.
std::vector<paper_number> read_paper_numbers(std::string_view csv);

// The cell; nullptr: it is empty, or there is no such cell.
const paper_number* published(std::string_view paper, std::string_view place, std::string_view row,
                              std::string_view machine, std::string_view quantity);
// The value of a cell that must exist; throws std::out_of_range where it does not.
double number_of(std::string_view paper, std::string_view place, std::string_view row,
                 std::string_view machine, std::string_view quantity);

}  // namespace mgsync
