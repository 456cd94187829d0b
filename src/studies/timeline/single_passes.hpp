// What the methods of code between two clock reads share: eight batches of one run each.
#pragma once

#include <vector>

#include "src/harness/methods/method.hpp"

namespace mgsync::timelines {

// A derived class computes the values of each run in row_of().
class single_passes : public method {
 public:
  std::optional<step> next(std::chrono::nanoseconds spent) final;
  void take(const step&, std::span<const seen>) final;
  stop_reason stopped() const final { return batch_ < batches ? stop_reason::none : stop_reason::precision; }
  std::string description() const override { return "device clock, single passes"; }
  void resume(std::span<const sample> before, std::uint32_t next_batch) final;

 protected:
  virtual std::vector<named_value> row_of(const seen&) const = 0;

 private:
  static constexpr std::uint32_t batches = 8;
  std::uint32_t batch_ = 0;
};

}  // namespace mgsync::timelines
