#include "src/studies/launch/wait_gradient.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mgsync::launch {

std::vector<std::uint64_t> gradient_units() {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 1; n <= 512; n *= 2) all.push_back(n);
  return all;
}

std::string gradient_name(std::uint64_t units) { return fmt::format("gradient_{}", units); }

std::optional<step> wait_gradient::next(std::chrono::nanoseconds) {
  if (batch_ == batches) return std::nullopt;
  step all;
  all.batch = batch_;
  const auto units = gradient_units();
  all.orders.push_back(
      {.count = 1, .units = units.front(), .unit_us = gradient_unit_us});  // warm-up: the first run differs
  for (std::uint32_t s = 0; s < series_per_batch; ++s) {
    for (const auto n : units) all.orders.push_back({.count = 1, .units = n, .unit_us = gradient_unit_us});
    all.orders.push_back({.count = 1, .units = 2 * units.back(), .unit_us = gradient_unit_us});
  }
  return all;
}

void wait_gradient::take(const step& asked, std::span<const seen> came) {
  const auto units = gradient_units();
  for (std::size_t first = 1; first + units.size() < came.size(); first += units.size() + 1) {
    sample row{asked.batch, {}};
    for (std::size_t i = 0; i < units.size(); ++i)
      row.values.push_back({gradient_name(units[i]), (value_of(came[first + i + 1], "total_us") -
                                                      value_of(came[first + i], "total_us")) /
                                                         static_cast<double>(units[i])});
    const auto& longest = came[first + units.size()];
    row.values.push_back({"unit", value_of(longest, "waited_us") / static_cast<double>(longest.done.units)});
    samples_.push_back(std::move(row));
  }
  batch_ = asked.batch + 1;
}

std::vector<metric_name> wait_gradient::columns() const {
  std::vector<metric_name> all;
  for (const auto n : gradient_units()) all.push_back({gradient_name(n), "us", better::neither});
  all.push_back({"unit", "us", better::neither});
  return all;
}

void wait_gradient::resume(std::span<const sample> before, std::uint32_t next_batch) {
  samples_.assign(before.begin(), before.end());
  batch_ = std::min(next_batch, batches);
}

}  // namespace mgsync::launch
