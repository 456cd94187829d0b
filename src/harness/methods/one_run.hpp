// A whole operation, timed from its start to its end: a reduction, a copy, a region of code. What a launch
// costs is part of it. Where a run says how many bytes it moved, its bandwidth is a metric too.
#pragma once

#include <vector>

#include "src/harness/methods/method.hpp"

namespace mgsync {

struct one_run_settings {
  stopping_rule stopping;
  std::uint32_t runs_per_batch = 5;
  std::uint32_t warm_ups =
      1;                    // runs at the start of a batch that are not counted, because the caches are cold
  std::uint64_t count = 1;  // how often a run carries the operation out
  std::string value = "duration_us";  // the name of what is timed
  metric_name measured{"time",
                       "us"};  // the metric per operation: in cycles, where a cycle counter measures it
  std::vector<metric_name> beside{};  // further metrics: a run's values "<name>_<unit>", unchanged
};

// A run yields its duration in us for `count` operations and, where it moves data, "bytes" per operation.
// Metrics: "time" in us per operation, and "bandwidth" in GB/s (10^9), more being better. Where `measured` is
// set, that metric in place of "time".
class one_run final : public method {
 public:
  explicit one_run(one_run_settings);

  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override { return why_; }
  std::optional<stopping_rule> stops() const override { return settings_.stopping; }
  void resume(std::span<const sample> before, std::uint32_t next_batch) override;
  std::string description() const override {
    return settings_.measured.unit == "cycles" ? "cycle counter, whole operation"
                                               : "host clock, whole operation";
  }

 private:
  one_run_settings settings_;
  stopping rule_;
  stop_reason why_ = stop_reason::none;
  std::uint32_t batch_ = 0;
};

}  // namespace mgsync
