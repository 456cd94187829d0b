// What one more unit of waiting adds to a kernel: (T(1, 2n) - T(1, n)) / n over n (paper 004, figure 2).
// Where it is the unit's own length, more units in a kernel add no overhead, and launches may be fused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/harness/methods/method.hpp"

namespace mgsync::launch {

inline constexpr double gradient_unit_us = 1;
// The n of all gradients: 1, 2, 4, ... 512.
std::vector<std::uint64_t> gradient_units();
// The name of a metric, such as "gradient_16".
std::string gradient_name(std::uint64_t units);

// Takes eight batches of three series of runs. A run of one launch that waits that many units yields
// "total_us" and "waited_us". Metrics in us: "gradient_1" and so on; and "unit", how long a unit of the
// longest run lasted by the device's own timer.
class wait_gradient final : public method {
 public:
  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override {
    return batch_ < batches ? stop_reason::none : stop_reason::precision;
  }
  std::string description() const override { return "host clock, one launch of more and more units"; }
  void resume(std::span<const sample> before, std::uint32_t next_batch) override;

 private:
  static constexpr std::uint32_t batches = 8, series_per_batch = 3;
  std::uint32_t batch_ = 0;
};

}  // namespace mgsync::launch
