#include "src/harness/axis_words.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"

namespace mgsync {

void check_words(std::string_view option, std::span<const std::string> words, std::span<const std::string_view> accepted) {
  for (const auto& word : words)
    if (std::ranges::find(accepted, word) == accepted.end())
      throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, word, fmt::join(accepted, ", ")));
}

std::uint64_t checked_number(std::string_view option, const std::string& word, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most)
    throw usage_error(fmt::format("--{} is '{}'; accepted: {} to {}", option, word, least, most));
  return value;
}

}  // namespace mgsync
