#include "barriers/parts/round_loop/block_record.hpp"

#include <cmath>

namespace mgsync::round_loop {

namespace {

// Converts values of the SM's cycle counter to times of the timer that the GPU's SMs share.
class timer_line {
 public:
  explicit timer_line(const block_events& b) : from_(b.readings[2]), to_(b.readings[2]) {
    for (const auto& r : b.readings)
      if (r.clock != 0 && r.clock < from_.clock) from_ = r;
    const double cycles = static_cast<double>(to_.clock - from_.clock);
    if (cycles > 0) ns_per_cycle_ = static_cast<double>(to_.timer_ns - from_.timer_ns) / cycles;
  }
  moment at(std::uint64_t clock) const {
    const double ns = static_cast<double>(static_cast<std::int64_t>(clock - from_.clock)) * ns_per_cycle_;
    return {clock, from_.timer_ns + static_cast<std::uint64_t>(std::llround(ns))};
  }

 private:
  clock_reading from_, to_;
  double ns_per_cycle_ = 0;
};

}  // namespace

worker_record record_of(const block_events& b, unsigned member, std::uint32_t rounds, std::uint32_t told) {
  const timer_line timer(b);
  const std::uint32_t first = rounds - told;
  worker_record record{{member, b.block}, b.sm, first, std::vector<worker_record::passage>(told)};
  for (std::uint32_t i = 0; i < told; ++i) {
    const std::uint32_t round = first + i;
    const auto came = b.stamps_coming != 0 ? b.came[round % recorded_ring]
                      : round == 0         ? b.began
                                           : b.left[(round - 1) % recorded_ring];
    record.passages[i] = {timer.at(came), timer.at(b.left[round % recorded_ring]), {}};
  }
  for (unsigned at = 0; at < most_recorded_rounds; ++at)
    if (b.spoke_round[at] >= first && b.spoke_round[at] < rounds)
      record.passages[b.spoke_round[at] - first].spoke = timer.at(b.spoke[at]);
  return record;
}

}  // namespace mgsync::round_loop
