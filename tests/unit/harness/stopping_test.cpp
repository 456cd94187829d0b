#include "src/harness/stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "src/base/errors.hpp"
#include "tests/unit/results/made_up_series.hpp"

namespace mgsync { namespace {

using namespace std::chrono_literals;

TEST(stopping, needs_enough_batches_however_quiet) {
  stopping rule({});
  for (std::uint32_t batch = 0; batch < 7; ++batch) {
    EXPECT_EQ(rule.decide(1ms), stop_reason::none) << batch;
    for (int i = 0; i < 5; ++i) rule.add_value(batch, 2);
    rule.close_batch();
  }
  EXPECT_EQ(rule.batches(), 7U);
  EXPECT_EQ(rule.decide(1ms), stop_reason::precision);
  EXPECT_NEAR(*rule.relative_half_width(), 0, 1e-9);
}

TEST(stopping, many_samples_of_one_batch_are_not_enough) {
  stopping rule({});
  for (int i = 0; i < 10000; ++i) rule.add_value(3, 2);
  EXPECT_EQ(rule.decide(1ms), stop_reason::none);
  rule.close_batch();
  rule.close_batch();
  EXPECT_EQ(rule.batches(), 1U);
  EXPECT_EQ(rule.decide(1ms), stop_reason::none);
}

TEST(stopping, a_sample_of_another_batch_closes_the_one_before) {
  stopping rule({});
  for (std::uint32_t batch = 10; batch < 18; ++batch) rule.add_value(batch, 2);
  EXPECT_EQ(rule.batches(), 7U);
  EXPECT_EQ(rule.decide(1ms), stop_reason::precision);
}

TEST(stopping, says_why) {
  stopping rule({.precision = 0.01, .max_time = 100ms});
  EXPECT_EQ(rule.decide(99ms), stop_reason::none);
  EXPECT_EQ(rule.decide(100ms), stop_reason::max_time);
  EXPECT_EQ(rule.decide(1ms, true), stop_reason::interrupted);
  for (std::uint32_t batch = 0; batch < 8; ++batch) rule.add_value(batch, 2);
  EXPECT_EQ(rule.decide(200ms), stop_reason::precision);
  EXPECT_EQ(to_string(stop_reason::none), "");
  EXPECT_EQ(to_string(stop_reason::precision), "precision");
  EXPECT_EQ(to_string(stop_reason::max_time), "max-time");
  EXPECT_EQ(to_string(stop_reason::interrupted), "interrupted");
}

TEST(stopping, a_wide_interval_goes_on_and_a_latency_lost_in_noise_is_never_precise) {
  stopping rule({});
  for (std::uint32_t batch = 0; batch < 50; ++batch) rule.add_value(batch, batch % 2 == 0 ? 2.0 : 2.2);
  EXPECT_EQ(rule.decide(1ms), stop_reason::none);
  EXPECT_GT(*rule.relative_half_width(), 0.04);
  stopping lost({});
  for (std::uint32_t batch = 0; batch < 50; ++batch) lost.add_value(batch, -1);
  EXPECT_EQ(lost.decide(1ms), stop_reason::none);
  EXPECT_FALSE(lost.relative_half_width().has_value());
}

TEST(stopping, refuses_rules_that_cannot_be) {
  EXPECT_THROW(stopping({.precision = 0}), usage_error);
  EXPECT_THROW(stopping({.precision = 1.5}), usage_error);
  EXPECT_THROW(stopping({.precision = std::numeric_limits<double>::quiet_NaN()}), usage_error);
  EXPECT_THROW(stopping({.max_time = 0ns}), usage_error);
  EXPECT_THROW(stopping({.min_batches = 5}), usage_error);
}

// 12 batches of 3: of how many samples the next is, and whether a hiccup in every fifth sample changes that.
std::uint32_t worth(double within, double between, double beginning, double hiccup = 0) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> one(0, 1);
  std::vector<std::vector<double>> batches(12);
  int count = 0;
  for (auto& batch : batches) {
    const double shift = between * one(random);
    for (int i = 0; i < 3; ++i)
      batch.push_back(2 + shift + within * one(random) + (++count % 5 == 0 ? hiccup : 0));
  }
  return samples_worth_taking(batches, beginning, 5);
}

TEST(stopping, a_batch_takes_no_more_samples_than_are_worth_their_time) {
  EXPECT_EQ(worth(0.005, 0.03, 1), 1U);       // what varies is the object: the next one says more
  EXPECT_EQ(worth(0.005, 0.03, 1, 0.5), 1U);  // hiccups are no noise
  EXPECT_EQ(worth(0.03, 0.002, 1), 5U);
  EXPECT_GT(worth(0.02, 0.03, 20), 2U);  // an object that is dear
  EXPECT_EQ(worth(0.02, 0.03, 0), 1U);
  EXPECT_EQ(samples_worth_taking({}, 1, 5), 3U);
  EXPECT_EQ(samples_worth_taking({}, 1, 2), 2U);
}

struct coverage {
  double share = 0;    // of the series whose last interval covers the truth
  double batches = 0;  // on average
};

coverage with_the_rule(const stopping_rule& rule, double shift, int seeds) {
  int covered = 0;
  std::size_t batches = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    test::truth real;
    real.batch_shift = shift;
    test::made_up_series source(real, 5000 + static_cast<std::uint64_t>(seed));
    stopping decision(rule);
    std::vector<sample> series;
    // Each sample stands for 1 ms; the time limit is far away.
    while (decision.decide(std::chrono::milliseconds(series.size())) == stop_reason::none) {
      const std::size_t before = series.size();
      source.add_batch(series, 5);
      for (std::size_t i = before; i < series.size(); ++i)
        decision.add_value(series[i].batch, series[i].at("latency"));
      decision.close_batch();
    }
    const metric summary = summarize({"latency", "us"}, series);
    covered += summary.ci95_low <= real.latency_us && real.latency_us <= summary.ci95_high;
    batches += decision.batches();
  }
  return {static_cast<double>(covered) / seeds, static_cast<double>(batches) / seeds};
}

// Looking again and again until the interval is narrow is what costs coverage.
TEST(stopping, the_interval_that_stops_sampling_still_covers_the_truth) {
  stopping_rule rule;
  rule.max_time = 1h;
  stopping_rule at_first_sight = rule;
  at_first_sight.batches_in_a_row = 1;
  for (const double shift : {0.002, 0.005, 0.01, 0.015, 0.025}) {
    const coverage two = with_the_rule(rule, shift, 1000);
    const coverage one = with_the_rule(at_first_sight, shift, 1000);
    std::printf(
        "shift %.1f %%: %.1f %% covered after %.1f batches; stopping at first sight %.1f %% after %.1f\n",
        100 * shift, 100 * two.share, two.batches, 100 * one.share, one.batches);
    EXPECT_GE(two.share, 0.92) << shift;
  }
}

// T(rounds) = cost + latency x rounds, off by `noise` in turn up and down.
std::vector<pilot_run> pilot_of(double latency_us, double noise_us = 0.5, double cost_us = 3) {
  std::vector<pilot_run> runs;
  for (int i = 0; i < 8; ++i)
    for (const std::uint32_t rounds : {20U, 200U})
      runs.push_back({rounds, cost_us + latency_us * rounds + noise_us * ((i % 4 < 2 ? 1 : -1))});
  return runs;
}

TEST(rounds, reach_the_precision_where_time_allows) {
  for (const double latency : {0.05, 0.2, 1.0, 5.0}) {
    const double noise = 0.5;
    const rounds_choice chosen = choose_rounds(pilot_of(latency, noise));
    const double difference = chosen.rounds_long - chosen.rounds_short;
    EXPECT_LE(std::sqrt(2.0) * noise / difference, 0.01 * latency * 1.001) << latency;
    EXPECT_GE(chosen.rounds_short * latency, 2 * 0.999) << "the skew of the start is outlasted";
    EXPECT_GE(chosen.rounds_short, 8U);
    EXPECT_LE(chosen.rounds_long * latency, 20000 * 1.001);
  }
}

TEST(rounds, are_sane_from_50_ns_to_50_ms) {
  std::uint32_t before_short = std::numeric_limits<std::uint32_t>::max(), before_long = before_short;
  for (double latency = 0.05; latency <= 50000; latency *= 1.1) {
    const rounds_choice chosen = choose_rounds(pilot_of(latency));
    EXPECT_GE(chosen.rounds_short, 1U);
    EXPECT_GT(chosen.rounds_long, chosen.rounds_short);
    EXPECT_TRUE(chosen.rounds_long * latency <= 20000 * 1.01 || chosen.rounds_long == 2) << latency;
    EXPECT_LE(chosen.rounds_short, before_short) << latency;
    EXPECT_LE(chosen.rounds_long, before_long) << latency;
    before_short = chosen.rounds_short;
    before_long = chosen.rounds_long;
  }
  const rounds_choice slow = choose_rounds(pilot_of(50000));
  EXPECT_EQ(slow.rounds_short, 1U);
  EXPECT_EQ(slow.rounds_long, 2U);
}

TEST(rounds, grow_with_precision_and_with_the_longest_run) {
  const auto pilot = pilot_of(0.3, 2);
  std::uint32_t before = 0;
  for (const double precision : {0.5, 0.1, 0.05, 0.01, 0.001, 0.0001, 1e-9}) {
    const rounds_choice chosen = choose_rounds(pilot, {.precision = precision});
    EXPECT_GE(chosen.rounds_long, before);
    before = chosen.rounds_long;
  }
  before = 0;
  for (const double longest : {0.1, 1.0, 10.0, 1000.0, 1e5, 1e12}) {
    const rounds_choice chosen = choose_rounds(pilot, {.precision = 1e-6, .longest_run_us = longest});
    EXPECT_GE(chosen.rounds_long, before);
    EXPECT_GT(chosen.rounds_long, chosen.rounds_short);
    before = chosen.rounds_long;
  }
  EXPECT_LE(before, 1U << 30);
}

TEST(rounds, survive_pilots_that_are_only_noise) {
  // Longer runs that seem to take less time, and one number of rounds only.
  for (const auto& pilot : {std::vector<pilot_run>{{10, 100}, {100, 50}}, std::vector<pilot_run>{{1, 0.001}},
                            std::vector<pilot_run>{{1, 1e9}}, std::vector<pilot_run>{{10, 1}, {10, 1000}}}) {
    const rounds_choice chosen = choose_rounds(pilot);
    EXPECT_GE(chosen.rounds_short, 1U);
    EXPECT_GT(chosen.rounds_long, chosen.rounds_short);
  }
  EXPECT_THROW(choose_rounds({}), std::invalid_argument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const pilot_run& bad : {pilot_run{0, 1}, pilot_run{1, 0}, pilot_run{1, -1}, pilot_run{1, nan}})
    EXPECT_THROW(choose_rounds(std::vector{bad}), std::invalid_argument);
}

TEST(rounds, the_long_run_outlasts_the_short_one_by_what_is_asked) {
  const std::vector<pilot_run> pilot{{8, 20}, {32, 68}, {128, 260}};  // 2 us a round, 4 us to start
  EXPECT_LT(choose_rounds(pilot, {}).rounds_long, 100u);
  rounds_request longer;
  longer.least_difference_us = 500;
  const auto chosen = choose_rounds(pilot, longer);
  EXPECT_EQ(chosen.rounds_long - chosen.rounds_short, 250u);
}

}}  // namespace mgsync
