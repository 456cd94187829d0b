// What one more launch costs when the host is ahead of the device (docs/method.md, "Launch overhead"; paper
// 000, section IV; paper 004): i launches of j units of waiting against j launches of i units. Both wait i x
// j units, so that their difference is i - j launches.
//
//     O = (T(i,j) - T(j,i)) / (i - j)
//
// The unit must outlast the launch pipeline, whose depth is unknown: it is doubled until O does not change,
// within its interval and 5 % (or a step of the device's timer), for two doublings. That is the figure, if a
// unit eight times as long gives it within a tenth (or three such steps); otherwise there is no plateau and
// no figure. The longer unit has none itself: it lasts so much longer that noise of the host's clock counts
// eight times. And the host must not be what is waited for: the additional latency of a launch that waits,
// (T(2i,j) - T(i,j)) / i, must exceed the duration of the launch call by more than the uncertainty of both.
#pragma once

#include <cstdint>
#include <vector>

#include "src/harness/methods/method.hpp"

namespace mgsync {

struct fused_settings {
  std::uint64_t more = 16;  // i
  std::uint64_t fewer = 1;  // j, below i
  double first_unit_us = 5;
  double last_unit_us = 320;
  std::uint32_t batches = 8;  // of each unit's length; at least 6, for an interval
  std::uint32_t samples_per_batch = 10;
};

// A run of `count` launches of `units` units yields "total_us" (from before the first launch call until all
// have finished), "call_us" (from before the first call until after the last) and, where the device measures
// its own waits, "waited_us" (their sum), which takes out what a long wait lasts longer than many short ones.
// Metrics in us, of the unit that settled: "overhead" (O), "additional" (of a launch that waits), "call" (of
// one launch call), "unit". Samples of other units hold "shorter_overhead" and "longer_overhead" instead.
class fused_difference final : public method {
 public:
  explicit fused_difference(fused_settings);

  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override { return stopped_; }
  void resume(std::span<const sample>, std::uint32_t) override {}  // the search for the unit begins anew
  std::string void_because() const override;
  std::string description() const override { return "host clock, fused launches"; }

  // What was measured with one length of the unit.
  struct at_unit {
    double unit_us = 0;
    std::vector<sample> samples{};
    metric figure(std::string_view name) const;
    bool host_bound() const;  // the host, not the device, limited the launches, so the value is not valid
  };
  const std::vector<at_unit>& tried() const { return tried_; }

 private:
  bool settled() const;
  bool has_plateau() const;

  fused_settings settings_;
  std::vector<at_unit> tried_;
  std::uint32_t batch_ = 0;
  bool looks_ahead_ = false;  // settled: the last unit is the longer one to compare with
  stop_reason stopped_ = stop_reason::none;
};

}  // namespace mgsync
