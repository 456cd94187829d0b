// When enough has been measured, and how long a run must be. Pure: no clock of its own, nothing random.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/results/values/result.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {

// Looking after every batch and stopping at the first interval that is narrow enough picks those that are
// narrow by luck. Simulated at 1 % precision, with shifts from batch to batch of 0.2 to 5 %, the final
// interval then covers the truth in no less than 92.1 % of the series; asking for two successive batches, in
// no less than 94.1 %, for some three to eight batches more. (tests/unit/harness/stopping_test.cpp measures
// it.)
struct stopping_rule {
  double precision = 0.01;  // half-width of the interval, relative to the median
  std::chrono::nanoseconds max_time = std::chrono::seconds(2);  // of one point
  std::uint32_t min_batches = 6;
  std::uint32_t batches_in_a_row = 2;  // successive batches after which the interval must be narrow enough
};

// Takes the values of one metric as they are measured or read from a store, and decides whether to go on.
class stopping {
 public:
  // Throws usage_error unless 0 < precision <= 1, max_time > 0 and min_batches >= 6.
  explicit stopping(const stopping_rule& rule);

  // A value of another batch than the last one closes that batch first.
  void add_value(std::uint32_t batch, double value);
  // Completes the open batch and evaluates the criterion. Does nothing for a batch without samples.
  void close_batch();

  // `elapsed` is the time spent on this point by this command. Of several reasons to stop, interruption is
  // returned before precision, and precision before time.
  stop_reason decide(std::chrono::nanoseconds elapsed, bool interrupted = false) const;

  std::uint32_t batches() const { return static_cast<std::uint32_t>(medians_.size()); }  // closed ones
  // Half-width of the interval over the closed batches, relative to their median; nothing before there are
  // enough.
  std::optional<double> relative_half_width() const { return half_width_; }

 private:
  stopping_rule rule_;
  std::vector<double> open_;  // values of the batch being measured
  std::uint32_t open_batch_ = 0;
  std::vector<double> medians_;  // of the closed batches
  std::optional<double> half_width_;
  std::uint32_t in_a_row_ = 0;
};

// How many samples the next batch is worth, at most `most`. With a spread of w inside batches and of b
// between them, and a new object that costs as much as `beginning` samples, a given time yields the narrowest
// interval with sqrt(beginning) w / b samples a batch: more samples would only describe this one object
// better. Both spreads are robust estimates, so a single outlier hardly changes them. Returns 3 before there
// are three batches of at least two samples.
std::uint32_t samples_worth_taking(std::span<const std::vector<double>> batches, double beginning,
                                   std::uint32_t most);

// One run of a pilot.
struct pilot_run {
  std::uint32_t rounds = 1;
  double duration_us = 0;
};

struct rounds_request {
  double precision = 0.01;         // wanted for one sample: sigma_L / L
  double longest_run_us = 20'000;  // no run should last longer, unless two rounds do
  double clock_tick_us = 0.05;     // resolution of the clock that takes T
  double start_skew_us = 2;  // members leave the start barrier this far apart; the short run must outlast it
  double least_difference_us = 0;  // the least difference between the long and the short run, against
                                   // disturbances that the pilot does not see
  std::uint32_t fewest_rounds =
      8;  // of the short run, where time allows, because the caches are cold in the first rounds
};

struct rounds_choice {
  std::uint32_t rounds_short = 1;
  std::uint32_t rounds_long = 2;
};

// Chooses rounds_short and rounds_long so that eq. 8, with the spread that the pilot's runs show, gives
// sigma_L below precision x L (docs/method.md, "Barrier latency"), within the bounds of the request. The
// pilot needs runs of at least one number of rounds; runs of two separate the latency from the cost of
// starting. Always 1 <= short < long; both grow with finer precision and with longest_run_us, and fall with
// the latency. Throws std::invalid_argument for an empty pilot, a run without rounds, or a duration that is
// not finite and positive.
rounds_choice choose_rounds(std::span<const pilot_run> pilot, const rounds_request& request = {});

}  // namespace mgsync
