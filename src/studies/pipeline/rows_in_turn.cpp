#include "src/studies/pipeline/rows_in_turn.hpp"

namespace mgsync::pipeline {

std::optional<step> rows_in_turn::next(std::chrono::nanoseconds) {
  if (batch_ == settings_.batches) return std::nullopt;
  step all;
  all.batch = batch_;
  for (std::size_t i = 0; i < settings_.rows(); ++i) all.orders.push_back({.units = i});
  return all;
}

void rows_in_turn::take(const step& asked, std::span<const seen> came) {
  std::vector<double> times;
  for (const seen& one : came) times.push_back(value_of(one, settings_.value));
  samples_.push_back({asked.batch, settings_.figures(times)});
  batch_ = asked.batch + 1;
}

}  // namespace mgsync::pipeline
