// Every method on known answers and on made-up noisy series: a pretended subject answers what the method asks
// for.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>

#include "src/harness/methods/fused_difference.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/outcome.hpp"
#include "src/harness/methods/rate.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync { namespace {

using namespace std::chrono_literals;
using answer = std::function<seen(const run_order&, const step&)>;

seen with(const run_order& asked, std::map<std::string, std::vector<double>> values) {
  return {.done = asked, .values = std::move(values)};
}

// Asks until the method is done, or far too often. Each order is taken to last a millisecond.
int carry_out(method& asked, const answer& subject, int most = 20'000) {
  std::chrono::nanoseconds spent{};
  for (int steps = 0; steps < most; ++steps) {
    const auto next = asked.next(spent);
    if (!next) return steps;
    std::vector<seen> came;
    for (const auto& each : next->orders) came.push_back(subject(each, *next));
    spent += next->preparing ? 0ms : std::chrono::milliseconds(came.size());
    asked.take(*next, came);
  }
  ADD_FAILURE() << "the method never ends";
  return most;
}

const metric& named(const std::vector<metric>& all, const std::string& name) {
  for (const auto& m : all)
    if (m.name == name) return m;
  throw std::invalid_argument("no metric " + name);
}

// Cycles of a chain of `links` adds at 4 cycles, read by a clock that costs 23.
std::vector<double> chain(std::uint64_t links, int samples, int late_every) {
  std::vector<double> cycles;
  for (int i = 0; i < samples; ++i)
    cycles.push_back(23 + 4.0 * static_cast<double>(links) +
                     (late_every > 0 && i % late_every == 0 ? 17 : 0));
  return cycles;
}

TEST(slope, finds_the_cycles_of_a_link_beside_late_samples) {
  slope asked({{64, 128, 256, 512}, 6});
  carry_out(asked, [](const run_order& o, const step&) {
    return with(o, {{"cycles", chain(o.count, 20, 5)}});
  });
  const auto values = asked.values();
  EXPECT_DOUBLE_EQ(named(values, "latency").median, 4);
  EXPECT_DOUBLE_EQ(named(values, "latency").ci95_high, 4);
  EXPECT_DOUBLE_EQ(asked.samples().front().at("mode_128"), 23 + 4 * 128);
  EXPECT_NEAR(named(values, "residual").median, 0, 1e-9);
  EXPECT_DOUBLE_EQ(named(values, "per_link").median, (23 + 4 * 512) / 512.0);
  EXPECT_EQ(asked.stopped(), stop_reason::precision);
  EXPECT_EQ(mode_of(asked.histogram(64)), 279U);
  EXPECT_EQ(asked.histogram(64).at(296), 6U * 4U);
}

// The instruction cache: beyond 256 links each costs 7 cycles (paper 000's table of repeats, 5.3 to 7.3).
TEST(slope, says_by_its_residual_that_a_chain_is_no_line) {
  slope asked({{64, 128, 256, 512}, 6});
  carry_out(asked, [](const run_order& o, const step&) {
    const auto n = static_cast<double>(o.count);
    return with(o, {{"cycles", {std::floor(23 + 4 * std::min(n, 256.0) + 7 * std::max(n - 256, 0.0))}}});
  });
  EXPECT_GT(named(asked.values(), "residual").median, 50);
}

TEST(slope, refuses_what_is_no_measurement) {
  EXPECT_THROW(slope({{64}, 6}), std::invalid_argument);
  EXPECT_THROW(slope({{64, 64}, 6}), std::invalid_argument);
  EXPECT_THROW(slope({{0, 64}, 6}), std::invalid_argument);
  EXPECT_THROW(histogram_of(std::vector{1.5}), std::invalid_argument);
  EXPECT_THROW(mode_of({}), std::invalid_argument);
  EXPECT_THROW(fit_line(std::vector{1.0, 1.0}, std::vector{1.0, 2.0}), std::invalid_argument);
  slope asked({{1, 2}, 1});
  EXPECT_THROW(carry_out(asked, [](const run_order& o, const step&) { return with(o, {}); }),
               std::invalid_argument);
}

// Loads from L2: no two samples alike, and each SM at its own distance.
TEST(slope, of_each_place_by_itself) {
  slope_settings settings{{16, 32, 64}, 6};
  settings.medians = true;
  settings.place = "sm";
  slope asked(settings);
  carry_out(asked, [](const run_order& o, const step&) {
    seen came{.done = o};
    for (const double sm : {0, 1, 2})
      for (const double off : {-1.0, 0.0, 5.0}) {
        came.values["sm"].push_back(sm);
        came.values["cycles"].push_back(100 + off + (200 + 10 * sm) * static_cast<double>(o.count));
      }
    return came;
  });
  const auto values = asked.values();
  EXPECT_DOUBLE_EQ(named(values, "latency").median, 210);
  EXPECT_DOUBLE_EQ(named(values, "lowest").median, 200);
  EXPECT_DOUBLE_EQ(named(values, "highest").median, 220);
  EXPECT_DOUBLE_EQ(named(values, "places").median, 3);
  EXPECT_DOUBLE_EQ(asked.samples().front().at("median_16"), 100 + 210 * 16);
  slope without(settings);
  EXPECT_THROW(carry_out(without,
                         [](const run_order& o, const step&) {
                           return with(o, {{"cycles", {10, 20}}, {"sm", {0}}});
                         }),
               std::invalid_argument);
}

TEST(rate, is_the_median_over_places_and_their_extremes) {
  rate asked({});
  carry_out(asked, [](const run_order& o, const step&) { return with(o, {{"per_cycle", {0.9, 1.0, 0.5}}}); });
  const auto values = asked.values();
  EXPECT_DOUBLE_EQ(named(values, "throughput").median, 0.9);
  EXPECT_EQ(named(values, "throughput").better, better::more);
  EXPECT_DOUBLE_EQ(named(values, "lowest").median, 0.5);
  EXPECT_DOUBLE_EQ(named(values, "highest").median, 1.0);
  EXPECT_EQ(asked.samples().size(), 3U);
  rate without({});
  EXPECT_THROW(carry_out(without,
                         [](const run_order& o, const step&) {
                           return with(o, {{"per_cycle", {}}});
                         }),
               std::invalid_argument);
}

// 001, table 5: the block barrier of V100 over its warps is 20 + 2 x warps, a line without a residual.
TEST(fit_line, finds_the_line_of_v100s_block_barrier) {
  const auto line =
      fit_line(std::vector<double>{1, 2, 4, 8, 16, 32}, std::vector<double>{22, 24, 28, 36, 52, 84});
  EXPECT_DOUBLE_EQ(line.slope, 2);
  EXPECT_DOUBLE_EQ(line.offset, 20);
  EXPECT_NEAR(line.residual, 0, 1e-12);
  EXPECT_DOUBLE_EQ(line.r_squared, 1);
}

TEST(rounds_difference, finds_the_latency_behind_the_cost_of_a_start) {
  for (const double latency : {0.3, 2.0, 40.0}) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> jitter(0, 0.5);
    rounds_difference asked({});
    std::map<std::uint32_t, double> shift;
    carry_out(asked, [&](const run_order& o, const step& s) {
      if (!shift.contains(s.batch)) shift[s.batch] = 1 + 0.01 * jitter(random);
      return with(
          o, {{"duration_us",
               {9 + latency * shift[s.batch] * static_cast<double>(o.count) + std::abs(jitter(random))}}});
    });
    const auto found = named(asked.values(), "latency");
    EXPECT_NEAR(found.median, latency, 0.015 * latency);
    EXPECT_LE(found.ci95_low, found.median);
    EXPECT_GE(asked.batches(), 6U);
    EXPECT_EQ(asked.stopped(), stop_reason::precision);
  }
}

TEST(rounds_difference, gives_no_figure_where_a_start_hides_the_rounds) {
  // What starts a run takes seconds, and 30 us more ahead of the shorter one.
  const auto starts_late = [](const run_order& o, const step&) {
    return with(o, {{"duration_us", {12e6 + 0.5 * static_cast<double>(o.count) + (o.count == 1 ? 30 : 0)}}});
  };
  rounds_difference_settings settings;
  settings.lengths_given = rounds_choice{1, 2};
  rounds_difference asked(settings);
  carry_out(asked, starts_late);
  EXPECT_EQ(asked.void_because(), "a run of 1 round(s) took 12000030 us and one of 2 12000001: what it takes "
                                  "to start a run hides its rounds");
  rounds_difference above(settings);
  carry_out(above, [](const run_order& o, const step&) {
    return with(o, {{"duration_us", {12e6 + 200 * static_cast<double>(o.count)}}});
  });
  EXPECT_NE(above.void_because(), "");
  rounds_difference sound(settings);
  carry_out(sound, [](const run_order& o, const step&) {
    return with(o, {{"duration_us", {100 + 0.5 * static_cast<double>(o.count)}}});
  });
  EXPECT_EQ(sound.void_because(), "");
}

// Objects that differ by 1.5 % and repeat themselves within 0.2 %: the same interval takes less time than
// five samples of every object would.
TEST(rounds_difference, spends_its_time_on_new_objects_where_they_differ) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> one(0, 1);
  rounds_difference asked({});
  std::map<std::uint32_t, double> shift;
  carry_out(asked, [&](const run_order& o, const step& s) {
    if (!shift.contains(s.batch)) shift[s.batch] = 1 + 0.015 * one(random);
    return with(o, {{"duration_us",
                     {9 + 2 * shift[s.batch] * (1 + 0.002 * one(random)) * static_cast<double>(o.count)}}});
  });
  EXPECT_EQ(asked.stopped(), stop_reason::precision);
  EXPECT_GT(asked.batches(), 10U);
  EXPECT_LT(asked.samples().size(), 2 * asked.batches());
  const auto found = named(asked.values(), "latency");
  EXPECT_LT(found.ci95_high - found.ci95_low, 2 * 0.01 * found.median);
}

TEST(rounds_difference, stops_for_time_and_goes_on_from_an_earlier_command) {
  rounds_difference_settings settings;
  settings.stopping.max_time = 200ms;
  settings.stopping.precision = 1e-6;
  std::mt19937_64 random(3);
  std::normal_distribution<double> jitter(1, 0.1);
  const answer noisy = [&](const run_order& o, const step&) {
    return with(o, {{"duration_us", {9 + 2 * jitter(random) * static_cast<double>(o.count)}}});
  };
  rounds_difference asked(settings);
  carry_out(asked, noisy);
  EXPECT_EQ(asked.stopped(), stop_reason::max_time);
  rounds_difference goes_on(settings);
  goes_on.resume(asked.samples(), asked.batches());
  EXPECT_EQ(goes_on.batches(), asked.batches() - 1);  // the last is closed by what follows
  carry_out(goes_on, noisy);
  EXPECT_GT(goes_on.samples().size(), asked.samples().size());
}

// A pilot two of whose three runs are held up in each step asks for no endless runs.
TEST(rounds_difference, takes_no_held_up_run_for_the_rounds) {
  rounds_difference asked({.stopping = {.max_time = 1s}});
  constexpr double cost_us = 3, latency_us = 0.065;
  int runs = 0;
  double longest = 0;
  carry_out(asked, [&](const run_order& o, const step& its) {
    const double us = cost_us + latency_us * static_cast<double>(o.count);
    if (!its.preparing) longest = std::max(longest, us);
    const bool held_up = its.preparing && runs++ % 3 != 1;
    return with(o, {{"duration_us", {held_up ? us + 4000 : us}}});
  });
  EXPECT_LE(longest, 20'000 * 1.01);
}

// Nor is it endless where some runs are short by luck, or where work that is not counted hides the rounds.
TEST(rounds_difference, bounds_a_pilot_of_long_runs_and_runs_of_much_work) {
  rounds_difference lucky({.stopping = {.max_time = 1s}});
  int runs = 0;
  double longest = 0;
  carry_out(lucky, [&](const run_order& o, const step& its) {
    const double us = runs++ % 3 == 1 ? 10 : 65.0 * static_cast<double>(o.count);
    if (its.preparing) longest = std::max(longest, us);
    return with(o, {{"duration_us", {us}}});
  });
  EXPECT_LE(longest, 4 * 50'000);

  rounds_difference hidden({.stopping = {.max_time = 1s}});
  std::uint64_t most = 0;
  carry_out(hidden, [&](const run_order& o, const step& its) {
    if (!its.preparing) most = std::max<std::uint64_t>(most, o.count);
    const auto rounds = static_cast<double>(o.count);
    return with(o, {{"duration_us", {0.18 * rounds + (its.preparing && o.count == 8 ? 4000 : 0)}},
                    {"worked_us", {2000 * rounds}}});
  });
  EXPECT_LE(most * 2000, 100u * 20'000);
}

// Two launches of a graph are 64 and 128 of its nodes: given lengths, no pilot, and what the call takes per
// node.
TEST(rounds_difference, takes_given_lengths_and_other_values_per_round) {
  rounds_difference_settings settings;
  settings.lengths_given = rounds_choice{64, 128};
  settings.value = "total_us";
  settings.per_round = {"call_us"};
  rounds_difference asked(settings);
  carry_out(asked, [](const run_order& o, const step& s) {
    EXPECT_FALSE(s.preparing);
    const auto n = static_cast<double>(o.count);
    return with(o, {{"total_us", {7 + 2.5 * n}}, {"call_us", {2.4 * n}}});
  });
  EXPECT_NEAR(named(asked.values(), "latency").median, 2.5, 1e-9);
  EXPECT_NEAR(named(asked.values(), "call").median, 2.4, 1e-9);
}

TEST(one_run, gives_time_and_bandwidth_without_the_warm_up) {
  one_run asked({});
  int runs = 0;
  carry_out(asked, [&](const run_order& o, const step&) {
    return with(o, {{"duration_us", {runs++ % 6 == 0 ? 900.0 : 250.0}}, {"bytes", {1e9}}});
  });
  EXPECT_DOUBLE_EQ(named(asked.values(), "time").median, 250);
  EXPECT_DOUBLE_EQ(named(asked.values(), "bandwidth").median, 4000);
  EXPECT_EQ(named(asked.values(), "bandwidth").better, better::more);
  EXPECT_EQ(asked.stopped(), stop_reason::precision);
}

TEST(outcome_of_runs, agrees_or_says_how_it_varies) {
  outcome_of_runs held(10), varies(10);
  const auto says = [](const char* word) {
    return [word](const run_order& o, const step&) { return seen{.done = o, .outcome = word}; };
  };
  carry_out(held, says("held"));
  EXPECT_EQ(held.word(), "held");
  carry_out(varies, [](const run_order& o, const step&) {
    return seen{.done = o, .outcome = o.seed == 4 ? "hung" : "held"};
  });
  EXPECT_EQ(varies.word(), "held 9, hung 1");
  outcome_of_runs mute(1);
  EXPECT_THROW(carry_out(mute, [](const run_order& o, const step&) { return seen{.done = o}; }),
               std::invalid_argument);
}

// A host that takes `host` us per launch call ahead of a device that takes `exec` us between two kernels of u
// us each, and `start` us before the first. nanosleep's rounding: a unit lasts 2 % longer than asked for.
answer pipeline(double host, double exec, double noise, double start = 5) {
  auto random = std::make_shared<std::mt19937_64>(11);
  return [=](const run_order& o, const step&) {
    std::normal_distribution<double> jitter(0, noise);
    const double i = static_cast<double>(o.count), work = static_cast<double>(o.units) * o.unit_us * 1.02;
    const double device = i * (exec + work), calls = i * host;
    return with(o, {{"total_us", {start + std::max(device, calls) + std::abs(jitter(*random))}},
                    {"call_us", {calls}}});
  };
}

TEST(fused_difference, finds_the_overhead_behind_a_slower_host) {
  fused_difference asked({});
  carry_out(asked, pipeline(2.6, 1.0, 0.01));
  EXPECT_EQ(asked.stopped(), stop_reason::precision);
  EXPECT_EQ(asked.void_because(), "");
  EXPECT_NEAR(named(asked.values(), "overhead").median, 1.0, 0.01);
  EXPECT_NEAR(named(asked.values(), "call").median, 2.6, 0.01);
  EXPECT_GE(asked.tried().size(), 3U);
}

// The paper's multi-device launch on 8 GPUs: the call takes 248 us, so that short units measure the host
// (004, figure 5).
TEST(fused_difference, lengthens_the_unit_until_the_host_is_ahead) {
  fused_difference asked({.more = 16, .fewer = 1, .last_unit_us = 2000});
  carry_out(asked, pipeline(248, 69.5, 0.1));
  EXPECT_EQ(asked.stopped(), stop_reason::precision);
  EXPECT_NEAR(named(asked.values(), "overhead").median, 69.5, 0.7);
  EXPECT_GT(asked.tried().back().unit_us, 248);
  EXPECT_TRUE(asked.tried().front().host_bound());
}

TEST(fused_difference, refuses_a_figure_of_the_host) {
  fused_difference asked({});
  carry_out(asked, pipeline(500, 1, 0.01));
  EXPECT_EQ(asked.stopped(), stop_reason::max_time);
  EXPECT_NE(asked.void_because().find("host-bound"), std::string::npos) << asked.void_because();
}

TEST(fused_difference, says_that_it_did_not_settle) {
  fused_difference asked({});
  carry_out(asked, [](const run_order& o, const step&) {  // an overhead that grows with the unit
    const double i = static_cast<double>(o.count);
    return with(o,
                {{"total_us",
                  {i * (static_cast<double>(o.units) * o.unit_us + o.unit_us / 10 * (o.count > 1 ? 1 : 0))}},
                 {"call_us", {0.1 * i}}});
  });
  EXPECT_NE(asked.void_because().find("not stable"), std::string::npos) << asked.void_because();
}

// Three lengths agree by chance, as of a launch on two GPUs by one call (6.9 us at units of 10, 7.4 at
// 20, 12.1 at 320): a length far above them does not.
TEST(fused_difference, has_no_figure_where_there_is_no_plateau) {
  fused_difference asked({});
  carry_out(asked, [](const run_order& o, const step&) {
    const double i = static_cast<double>(o.count), unit = o.count > 1 ? o.unit_us : 0;
    const double overhead = 7 + (unit > 40 ? (unit - 40) / 60 : 0);
    return with(o, {{"total_us", {i * (static_cast<double>(o.units) * o.unit_us + overhead)}},
                    {"call_us", {0.1 * i}}});
  });
  EXPECT_EQ(asked.stopped(), stop_reason::max_time);
  EXPECT_NE(asked.void_because().find("no plateau: 7.00 us at units of 20 us"), std::string::npos)
      << asked.void_because();
}

// The figure is that of the unit that settled; a longer unit, of which the host's clock is less sure, only
// has to give about the same.
TEST(fused_difference, has_the_figure_of_the_unit_that_settled) {
  fused_difference asked({});
  carry_out(asked, [](const run_order& o, const step&) {
    const double i = static_cast<double>(o.count);
    const double overhead = o.count > 1 && o.unit_us > 100 ? 1.07 : 1;
    return with(o, {{"total_us", {i * (static_cast<double>(o.units) * o.unit_us + overhead)}},
                    {"call_us", {0.1 * i}}});
  });
  EXPECT_EQ(asked.void_because(), "");
  EXPECT_NEAR(named(asked.values(), "overhead").median, 1, 1e-9);
  EXPECT_NEAR(named(asked.values(), "unit").median, 20, 1e-9);
  EXPECT_NEAR(asked.tried().back().figure("overhead").median, 1.07 * 16 / 15 - 1 / 15.0, 1e-9);
}

// A wait of many units that lasts longer than as many waits of one: taken out where the device measures its
// waits.
TEST(fused_difference, takes_out_what_the_waits_themselves_differ_by) {
  fused_difference asked({});
  carry_out(asked, [](const run_order& o, const step&) {
    const double i = static_cast<double>(o.count);
    const double waited = i * static_cast<double>(o.units) * o.unit_us + (o.units > 1 ? 7.5 : 0.0);
    return with(o, {{"total_us", {5 + waited + i * 1.2}}, {"call_us", {i * 0.5}}, {"waited_us", {waited}}});
  });
  EXPECT_NEAR(named(asked.values(), "overhead").median, 1.2, 1e-9);
}

TEST(fused_difference, refuses_settings_that_cannot_be) {
  EXPECT_THROW(fused_difference({.more = 1, .fewer = 1}), std::invalid_argument);
  EXPECT_THROW(fused_difference({.more = 16, .fewer = 0}), std::invalid_argument);
  EXPECT_THROW(fused_difference({.batches = 5}), std::invalid_argument);
  EXPECT_THROW(fused_difference({.first_unit_us = 0}), std::invalid_argument);
}

}}  // namespace mgsync
