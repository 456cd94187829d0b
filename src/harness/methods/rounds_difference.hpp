// The latency of one round of something that is repeated: a long run less a short one, over the rounds
// between them (docs/method.md, "Barrier latency"). What a start costs is in both and cancels.
//
//     L = (T(r2) - T(r1)) / (r2 - r1)                           (eq. 7)
//     sigma_L = sqrt(sigma_T1^2 + sigma_T2^2) / (r2 - r1)       (eq. 8)
#pragma once

#include <vector>

#include "src/harness/methods/method.hpp"

namespace mgsync {

struct rounds_difference_settings {
  stopping_rule stopping;
  rounds_request lengths{.least_difference_us =
                             500};  // large enough that a launch that takes 100 us longer does not dominate
  std::optional<std::uint32_t> samples_per_batch{};  // empty: chosen by samples_worth_taking(), 5 at most
  std::uint32_t batches_in_max_time =
      8;  // a slow subject takes fewer samples in a batch, so that there are enough batches
  std::uint32_t most_pilot_rounds = 1u << 20;
  double long_enough_us = 1000;                  // the pilot ends with runs of this duration
  std::optional<rounds_choice> lengths_given{};  // these lengths, without a pilot
  std::string value = "duration_us";             // the name of the value that is timed
  std::vector<std::string>
      per_round{};  // other values in us that are divided by their run's rounds: "call_us"
  std::vector<metric_name>
      beside{};            // values of long runs that are reported as metrics unchanged, where a run has them
  double most_work = 100;  // a run may last this many times as long with work that is not counted
};

// A run of `count` rounds yields "duration_us", the largest of its members' own durations, and "worked_us"
// where it did work that the duration does not contain. The metric is "latency" in us, and for each value in
// per_round that of the long run per round, named without its unit: "call".
class rounds_difference final : public method {
 public:
  explicit rounds_difference(rounds_difference_settings);

  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override { return why_; }
  std::optional<stopping_rule> stops() const override { return settings_.stopping; }
  // Not empty where starting a run took more than a second, and the rounds less than a thousandth of that.
  std::string void_because() const override;
  std::string description() const override { return "host clock, difference of two runs"; }
  void resume(std::span<const sample> before, std::uint32_t next_batch) override;

  std::uint32_t batches() const { return rule_.batches(); }

 private:
  step pilot_step() const;
  void note_cost(std::chrono::nanoseconds spent);
  double beginning() const;
  std::uint32_t samples_of_a_batch() const;

  rounds_difference_settings settings_;
  stopping rule_;
  stop_reason why_ = stop_reason::none;
  std::vector<pilot_run> pilot_;
  std::uint32_t pilot_rounds_ = 8;
  std::optional<rounds_choice> chosen_;
  std::uint32_t batch_ = 0;
  std::uint32_t taken_ = 0;   // samples of this batch
  std::uint32_t wanted_ = 0;  // samples of this batch
  std::optional<std::chrono::nanoseconds> batch_began_;
  std::chrono::nanoseconds asked_at_{};  // what had been spent when the last pair was asked for
  std::vector<double> first_costs_,
      later_costs_;  // seconds that pairs took: the first of a batch with a new object, the others
};

}  // namespace mgsync
