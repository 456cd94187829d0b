#include "src/studies/timeline/clock_offset.hpp"

#include <algorithm>
#include <limits>

namespace mgsync::timelines {

std::optional<clock_offset> offset_of(std::span<const exchange> all, double step) {
  constexpr double none = std::numeric_limits<double>::infinity();
  clock_offset allowed{-none, none};
  const auto difference = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(static_cast<std::int64_t>(a - b));
  };
  for (const auto& e : all) {
    // On the asker's clock, asked <= the moment of the answer <= heard. Each bound is widened by one step,
    // since a clock's reading may be up to a step old.
    allowed.low = std::max(allowed.low, difference(e.answered, e.heard) - step);
    allowed.high = std::min(allowed.high, difference(e.answered, e.asked) + step);
  }
  if (all.empty() || allowed.low > allowed.high) return std::nullopt;
  return allowed;
}

clock_offset over_run(const clock_offset& before, const clock_offset& after) {
  return {std::min(before.low, after.low), std::max(before.high, after.high)};
}

}  // namespace mgsync::timelines
