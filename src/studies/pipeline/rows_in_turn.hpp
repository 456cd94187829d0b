// A method that times a list of settings one after the other, the whole list once per batch: those that a
// model is calibrated on and those that it must predict. The metrics are computed from all times of a batch
// together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/harness/methods/method.hpp"

namespace mgsync::pipeline {

struct rows_settings {
  std::function<std::size_t()> rows;  // how many settings; called after a subject was made
  std::string value;                  // the name of a run's time
  std::vector<metric_name> columns;
  std::function<std::vector<named_value>(std::span<const double> times)> figures;  // metrics of one batch
  std::string description;
  std::uint32_t batches = 6;  // enough for a confidence interval
};

// Order i of a batch has `units` i, the index of the setting to be timed.
class rows_in_turn final : public method {
 public:
  explicit rows_in_turn(rows_settings settings) : settings_(std::move(settings)) {}

  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override { return settings_.columns; }
  stop_reason stopped() const override {
    return batch_ == settings_.batches ? stop_reason::precision : stop_reason::none;
  }
  void resume(std::span<const sample>, std::uint32_t) override {}  // measured anew, as that is quick
  std::string description() const override { return settings_.description; }

 private:
  rows_settings settings_;
  std::uint32_t batch_ = 0;
};

}  // namespace mgsync::pipeline
