#include "src/harness/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync {

stopping::stopping(const stopping_rule& rule) : rule_(rule) {
  if (!(rule.precision > 0 && rule.precision <= 1))
    throw usage_error(
        fmt::format("precision is {}; accepted: more than 0 (exact), at most 1 (100 %)", rule.precision));
  if (rule.max_time <= std::chrono::nanoseconds::zero())
    throw usage_error("max-time must be longer than nothing");
  if (rule.min_batches < batches_for_an_interval)
    throw usage_error(fmt::format("{} batches are too few for a 95 % interval; accepted: {} and more",
                                  rule.min_batches, batches_for_an_interval));
}

void stopping::add_value(std::uint32_t batch, double value) {
  if (!open_.empty() && batch != open_batch_) close_batch();
  open_batch_ = batch;
  open_.push_back(value);
}

void stopping::close_batch() {
  if (open_.empty()) return;
  medians_.push_back(median(open_));
  open_.clear();
  if (medians_.size() < rule_.min_batches) return;
  const double middle = median(medians_);
  const interval ci = median_interval(medians_);
  // A median at or below zero (noise larger than the latency) has no relative precision: it is never narrow
  // enough.
  half_width_ = std::max(middle - ci.low, ci.high - middle) / middle;
  const bool narrow = middle > 0 && *half_width_ <= rule_.precision;
  if (middle <= 0) half_width_.reset();
  in_a_row_ = narrow ? in_a_row_ + 1 : 0;
}

stop_reason stopping::decide(std::chrono::nanoseconds elapsed, bool interrupted) const {
  if (interrupted) return stop_reason::interrupted;
  if (in_a_row_ >= std::max(1U, rule_.batches_in_a_row)) return stop_reason::precision;
  if (elapsed >= rule_.max_time) return stop_reason::max_time;
  return stop_reason::none;
}

std::uint32_t samples_worth_taking(std::span<const std::vector<double>> batches, double beginning,
                                   std::uint32_t most) {
  constexpr double of_differences = 0.954;  // the median distance of two values of a Gaussian with sigma 1
  constexpr double of_medians = 1.571;      // the variance of the median of n values, times n: pi / 2
  std::vector<double> neighbours, medians;
  double samples = 0;
  for (const auto& one : batches) {
    if (one.size() < 2) continue;
    for (std::size_t i = 1; i < one.size(); ++i) neighbours.push_back(std::abs(one[i] - one[i - 1]));
    medians.push_back(median(one));
    samples += static_cast<double>(one.size());
  }
  if (medians.size() < 3) return std::min(3U, most);
  const double within = median(neighbours) / of_differences;
  const double of_one_batch = of_medians * within * within * static_cast<double>(medians.size()) / samples;
  const double between_squared = std::pow(robust_sigma(medians), 2) - of_one_batch;
  if (between_squared <= 0) return most;
  return static_cast<std::uint32_t>(
      std::clamp(std::round(std::sqrt(std::max(beginning, 0.0) / between_squared) * within), 1.0,
                 static_cast<double>(most)));
}

namespace {

// T(rounds) = cost + latency x rounds, each run off by a Gaussian of sigma.
struct pilot_line {
  double latency_us = 0;
  double sigma_us = 0;
};

pilot_line fit(std::span<const pilot_run> pilot) {
  if (pilot.empty()) throw std::invalid_argument("a pilot without runs");
  std::map<std::uint32_t, std::vector<double>> by_rounds;
  for (const pilot_run& run : pilot) {
    if (run.rounds == 0 || !std::isfinite(run.duration_us) || run.duration_us <= 0)
      throw std::invalid_argument("a pilot's run needs rounds and a duration");
    by_rounds[run.rounds].push_back(run.duration_us);
  }
  pilot_line line;
  // With those that were held up: where that happens short runs would be lost in it, so they are made longer.
  for (const auto& [rounds, durations] : by_rounds)
    line.sigma_us = std::max(line.sigma_us, spread(durations));
  const auto& [fewest, shortest] = *by_rounds.begin();
  const auto& [most, longest] = *by_rounds.rbegin();
  // The longest run's whole time divided by its rounds: an upper bound of the latency, and the estimate where
  // there is no slope.
  const double limit = minimum(longest) / most;
  line.latency_us = limit;
  if (most > fewest) {
    const double slope = (minimum(longest) - minimum(shortest)) / (static_cast<double>(most) - fewest);
    // A slope near zero, lost in the noise, would ask for endless runs, so it is taken as at least a
    // hundredth of that bound.
    line.latency_us = std::clamp(slope, limit / 100, limit);
  }
  return line;
}

}  // namespace

rounds_choice choose_rounds(std::span<const pilot_run> pilot, const rounds_request& request) {
  const pilot_line line = fit(pilot);
  const double latency = line.latency_us;
  constexpr double most_rounds = 1U << 30;
  const double affordable = std::clamp(std::floor(request.longest_run_us / latency), 2.0, most_rounds);

  const double outlasting_skew = std::ceil(request.start_skew_us / latency);
  const double rounds_short = std::clamp(std::max<double>(request.fewest_rounds, outlasting_skew), 1.0,
                                         std::max(1.0, std::floor(affordable / 4)));
  // Eq. 8 with equal sigma of both runs; the clock's resolution adds an error of at most one tick to each.
  const double uncertain_us = std::sqrt(2.0) * std::hypot(line.sigma_us, request.clock_tick_us);
  const double for_precision = std::ceil(uncertain_us / (request.precision * latency));
  // At least three times the short run, so that what does not cancel (cold first rounds) has little weight.
  const double difference =
      std::max({for_precision, 3 * rounds_short, std::ceil(request.least_difference_us / latency)});
  const double least = rounds_short + 1;
  const double rounds_long = std::clamp(rounds_short + difference, least, std::max(affordable, least));
  return {static_cast<std::uint32_t>(rounds_short), static_cast<std::uint32_t>(rounds_long)};
}

}  // namespace mgsync
