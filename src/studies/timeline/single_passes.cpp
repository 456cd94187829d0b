#include "src/studies/timeline/single_passes.hpp"

#include <algorithm>

namespace mgsync::timelines {

std::optional<step> single_passes::next(std::chrono::nanoseconds) {
  if (batch_ == batches) return std::nullopt;
  return step{{run_order{}}, batch_, false};
}

void single_passes::take(const step& asked, std::span<const seen> came) {
  for (const auto& run : came) samples_.push_back({asked.batch, row_of(run)});
  batch_ = asked.batch + 1;
}

void single_passes::resume(std::span<const sample> before, std::uint32_t next_batch) {
  samples_.assign(before.begin(), before.end());
  batch_ = std::min(next_batch, batches);
}

}  // namespace mgsync::timelines
