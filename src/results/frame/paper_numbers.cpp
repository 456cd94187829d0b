#include "src/results/frame/paper_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "src/base/comma_list.hpp"
#include "src/results/frame/frame.hpp"

extern const unsigned char mgsync_papers_csv[];  // made by cmake/embed.cmake; ends with a zero

namespace mgsync {
namespace {

constexpr std::string_view head = "paper,place,row,machine,quantity,unit,value,quoted";

}  // namespace

std::vector<paper_number> read_paper_numbers(std::string_view csv) {
  std::vector<paper_number> all;
  for (std::size_t number = 1; !csv.empty(); ++number) {
    const auto line = csv.substr(0, csv.find('\n'));
    csv.remove_prefix(std::min(csv.size(), line.size() + 1));
    if (number == 1 && line == head) continue;
    const auto cells = split_at_commas(line);
    double value = 0;
    if (number == 1 || cells.size() != 8 ||
        std::from_chars(cells[6].data(), cells[6].data() + cells[6].size(), value).ptr !=
            cells[6].data() + cells[6].size())
      throw std::runtime_error(
          fmt::format("line {} of the papers' numbers is '{}'; accepted: {}, without commas in a cell",
                      number, line, head));
    const auto word = [&cells](std::size_t i) { return std::string(cells[i]); };
    all.push_back({word(0), word(1), word(2), word(3), word(4), word(5), value, word(7)});
  }
  return all;
}

std::span<const paper_number> paper_numbers() {
  static const auto all = read_paper_numbers(reinterpret_cast<const char*>(mgsync_papers_csv));
  return all;
}

const paper_number* published(std::string_view paper, std::string_view place, std::string_view row,
                              std::string_view machine, std::string_view quantity) {
  return first(paper_numbers(), [&](const paper_number& one) {
    return one.paper == paper && one.place == place && one.row == row && one.machine == machine &&
           one.quantity == quantity;
  });
}

double number_of(std::string_view paper, std::string_view place, std::string_view row,
                 std::string_view machine, std::string_view quantity) {
  const auto* found = published(paper, place, row, machine, quantity);
  if (found == nullptr)
    throw std::out_of_range(
        fmt::format("no {} of {} on {} in {} of paper {}", quantity, row, machine, place, paper));
  return found->value;
}

}  // namespace mgsync
