#include "src/harness/methods/rate.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/results/values/statistics.hpp"

namespace mgsync {

rate::rate(rate_settings settings) : settings_(std::move(settings)) {
  if (settings_.batches == 0) throw std::invalid_argument("a rate needs a batch");
}

std::optional<step> rate::next(std::chrono::nanoseconds) {
  if (batch_ == settings_.batches) return std::nullopt;
  step one;
  one.batch = batch_;
  one.orders.push_back({});
  return one;
}

void rate::take(const step& asked, std::span<const seen> came) {
  const auto& rates = values_of(came.front(), settings_.value);
  if (rates.empty()) throw std::invalid_argument("a run without a rate");
  const auto [lowest, highest] = std::minmax_element(rates.begin(), rates.end());
  samples_.push_back(
      {asked.batch, {{"throughput", median(rates)}, {"lowest", *lowest}, {"highest", *highest}}});
  batch_ = asked.batch + 1;
}

std::vector<metric_name> rate::columns() const {
  return {metric_name{"throughput", settings_.unit, better::more},
          metric_name{"lowest", settings_.unit, better::more},
          metric_name{"highest", settings_.unit, better::more}};
}

void rate::resume(std::span<const sample> before, std::uint32_t next_batch) {
  samples_.assign(before.begin(), before.end());
  batch_ = next_batch;
}

}  // namespace mgsync
