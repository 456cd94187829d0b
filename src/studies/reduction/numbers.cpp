#include "src/studies/reduction/numbers.hpp"

#include <vector>

namespace mgsync::reduction {
namespace {

constexpr std::size_t chunk = 512;

std::int64_t added_up(std::size_t first, std::size_t end) {
  std::int32_t sum = 0;  // at most 512 numbers, for which 32 bits are enough
  for (auto i = first; i < end; ++i) sum += number_at(static_cast<std::uint32_t>(i));
  return sum;
}

// The sum of all chunks before chunk `index`.
std::int64_t before(std::size_t index) {
  static std::vector<std::int64_t> sums{0};
  if (index >= sums.size()) {
    const std::size_t known = sums.size() - 1;
    sums.resize(index + 1);
#pragma omp parallel for if (index - known >                                                                 \
                             4096)  // new threads begin where they are made, and that may be one processor
    for (std::size_t i = known; i < index; ++i) sums[i + 1] = added_up(i * chunk, (i + 1) * chunk);
    for (std::size_t i = known; i < index; ++i) sums[i + 1] += sums[i];
  }
  return sums[index];
}

std::int64_t up_to(std::size_t end) { return before(end / chunk) + added_up(end / chunk * chunk, end); }

}  // namespace

std::int64_t sum_of_numbers(std::size_t first, std::size_t count) {
  return up_to(first + count) - up_to(first);
}

}  // namespace mgsync::reduction
