#include "src/base/communicator.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"

namespace mgsync {

thread_level thread_level_named(std::string_view word) {
  const auto found = std::ranges::find(thread_level_words, word);
  if (found == std::end(thread_level_words))
    throw usage_error(fmt::format("'{}' is no thread level of MPI; accepted: {}", word,
                                  fmt::join(thread_level_words, ", ")));
  return static_cast<thread_level>(found - std::begin(thread_level_words));
}

}  // namespace mgsync
