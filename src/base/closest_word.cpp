#include "src/base/closest_word.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace mgsync {
namespace {

// Edits (insert, delete, replace one letter) that turn a into b.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> accepted) {
  constexpr std::size_t longest_word = 64;  // longer ones are not compared: nobody typed them
  if (word.empty() || word.size() > longest_word) return {};
  std::optional<std::string_view> best;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view one : accepted) {
    const std::size_t needed = edits(word, one);
    if (needed < fewest && needed < std::max(word.size(), one.size())) {
      fewest = needed;
      best = one;
    }
  }
  return best;
}

}  // namespace mgsync
