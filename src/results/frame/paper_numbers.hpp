// What the papers print, as data: papers.csv beside this file, embedded by the build. A study names the cell
// it wants and never the number:
//     published("000", "table III", "32", "V100", "bandwidth")->value   // 19.6
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

// One cell of a paper's table, or one number of its text.
struct paper_number {
  std::string paper;     // "000" to "004"
  std::string place;     // "table II", "figure 4", "text"
  std::string row;       // as the paper calls it, or what it is there
  std::string machine;   // "V100", "P100"
  std::string quantity;  // "latency"
  std::string unit;
  double value = 0;
  std::string quoted;  // as it stands in the paper's text; empty: it stands in none (a figure)
};

// All of them, in the order of the file. std::runtime_error where the file is not what it should be.
std::span<const paper_number> paper_numbers();
// Those of a text in that form; a test reads other texts.
std::vector<paper_number> read_paper_numbers(std::string_view csv);

// nullptr: that cell is empty, or there is no such cell.
const paper_number* published(std::string_view paper, std::string_view place, std::string_view row,
                              std::string_view machine, std::string_view quantity);
// Of one that a study cannot do without; std::out_of_range where there is none.
double number_of(std::string_view paper, std::string_view place, std::string_view row,
                 std::string_view machine, std::string_view quantity);

}  // namespace mgsync
