// Throughput: operations per cycle and SM, with all warps issuing (docs/method.md, "Latency inside one SM").
// Each place that took part, such as an SM, has a rate of its own.
#pragma once

#include <string>
#include <vector>

#include "src/harness/methods/method.hpp"

namespace mgsync {

struct rate_settings {
  std::string value = "per_cycle";  // the name of the rates
  std::string unit = "1/cycle";
  std::uint32_t batches = 3;  // of one run each
};

// A run yields one or more rates, one for each place. Metrics: "throughput", the median over places; "lowest"
// and "highest" of them. More is better. A run without rates is std::invalid_argument.
class rate final : public method {
 public:
  explicit rate(rate_settings);

  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override {
    return batch_ == settings_.batches ? stop_reason::precision : stop_reason::none;
  }
  void resume(std::span<const sample> before, std::uint32_t next_batch) override;
  std::string description() const override { return "cycle counter, rate of all places at once"; }

 private:
  rate_settings settings_;
  std::uint32_t batch_ = 0;
};

}  // namespace mgsync
