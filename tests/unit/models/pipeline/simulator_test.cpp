// The simulator beside the closed form, the paper's recurrences written out, and its own check.
#include "src/models/pipeline/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "src/models/pipeline/closed_form.hpp"
#include "src/models/pipeline/recurrences.hpp"

namespace mgsync::pipeline { namespace {

stage_times of_paper(ticks a, ticks b, ticks math, ticks epilogue) {
  stage_times t;
  t.a = {a, a};
  t.b = {b, b};
  t.math = math;
  t.epilogue = epilogue;
  return t;
}

// Equations (1) to (3) as printed, for one producer.
ticks recurrences(ticks ta, ticks tb, ticks tc, int stages, int buffers) {
  std::vector<ticks> a(stages + 1), b(stages + 1), c(stages + 1);
  for (int i = 1; i <= stages; ++i) {
    const ticks before = i == 1 ? 0 : b[i - 1] + tb;
    const ticks freed = i > buffers ? c[i - buffers] + tc : 0;
    a[i] = std::max(before, freed);
    b[i] = std::max(a[i] + ta, freed);
    c[i] = std::max(i == 1 ? 0 : c[i - 1] + tc, b[i] + tb);
  }
  return c[stages] + tc;
}

TEST(simulator, agrees_with_closed_form_and_recurrences_over_the_papers_grid) {
  // Sizes 32 to 1024 in steps of 32 are 1 to 32 stages of depth 32; DMA over ALU from a hundredth to a
  // hundredfold.
  int compared = 0;
  for (const auto& [load, math] :
       {std::pair<ticks, ticks>{10, 1000}, {100, 1000}, {1000, 1000}, {1000, 100}, {1000, 10}})
    for (const ticks b : {load, load / 2, load / 10 + 1})
      for (int stages = 1; stages <= 32; ++stages)
        for (int buffers = 1; buffers <= 4; ++buffers)
          for (int producers = 1; producers <= 2; ++producers) {
            const stage_times t = of_paper(load, b, math, 77);
            const arrangement warps{producers, 1, buffers, false};
            const simulation run = simulate(std::vector{t}, stages, warps);
            ASSERT_EQ(run.violations, std::vector<std::string>{});
            ASSERT_LE(run.most_in_flight, buffers);
            ASSERT_EQ(run.total, wave_time(t, stages, warps) + t.epilogue)
                << stages << " stages, " << buffers << " buffers";
            ASSERT_EQ(run.total, stages * math + run.waiting + t.epilogue);
            if (producers == 1) {
              ASSERT_EQ(run.total - t.epilogue, recurrences(load, b, math, stages, buffers));
            }
            const ticks d = producers == 1 ? load + b : std::max(load, b);
            ASSERT_EQ(run.total - t.epilogue,
                      buffers == 1 ? stages * (d + math) : d + math + (stages - 1) * std::max(d, math));
            ++compared;
          }
  EXPECT_EQ(compared, 3840);
}

// One SM's work of up to so many output tiles and stages, with loads in flight and semaphores; the last
// output tile is another one.
struct seeded_work {
  sm_work work;
  arrangement warps;
};
seeded_work drawn(std::mt19937& random, int most_tiles, int most_stages) {
  const auto draw = [&](ticks low, ticks high) {
    return std::uniform_int_distribution<ticks>(low, high)(random);
  };
  seeded_work made;
  stage_times& t = made.work.each;
  t.a.issue = draw(0, 500);
  t.b.issue = draw(1, 500);
  t.a.latency = t.a.issue + draw(0, 1) * draw(0, 3000);
  t.b.latency = t.b.issue + draw(0, 1) * draw(0, 3000);
  t.math = draw(1, 800);
  t.epilogue = draw(0, 2000);
  t.query = draw(0, 1) * draw(0, 60);
  t.handover = draw(0, 1) * draw(0, 90);
  made.work.last = t;
  made.work.last.a.issue /= draw(1, 3);
  made.work.last.b.issue /= draw(1, 3);
  made.work.last.epilogue /= draw(1, 3);
  made.work.tiles = draw(1, most_tiles);
  made.work.stages = static_cast<int>(draw(1, most_stages));
  made.warps = {static_cast<int>(draw(1, 2)), static_cast<int>(draw(1, 2)), static_cast<int>(draw(1, 9)),
                false};
  return made;
}

simulation simulated(const seeded_work& of) {
  std::vector<stage_times> tiles(static_cast<std::size_t>(of.work.tiles), of.work.each);
  if (of.work.first) tiles.front() = *of.work.first;
  tiles.back() = of.work.last;
  return simulate(tiles, of.work.stages, of.warps);
}

TEST(simulator, agrees_with_the_closed_form_of_loads_in_flight_and_semaphores) {
  std::mt19937 random(24);
  for (int i = 0; i < 4000; ++i) {
    auto one = drawn(random, 6, 40);
    const simulation run = simulated(one);
    ASSERT_EQ(run.violations, std::vector<std::string>{}) << i;
    ASSERT_EQ(run.total, waves_time(one.work, one.warps)) << i;
    ASSERT_EQ(run.waiting, waves_waiting(one.work, one.warps)) << i;
    if (one.warps.consumers == 2) continue;
    one.work.first = one.work.each;
    one.work.first->epilogue += 70;
    ASSERT_EQ(simulated(one).total, waves_time(one.work, one.warps)) << i;
  }
}

TEST(simulator, agrees_with_the_recurrences_of_persistent_blocks) {
  std::mt19937 random(25);
  for (int i = 0; i < 4000; ++i) {
    auto one = drawn(random, 9, 40);
    one.warps.persistent = true;
    if (i % 2 == 1) {  // the first output tile is another one too
      one.work.first = one.work.each;
      one.work.first->epilogue += 70;
      one.work.first->math += 5;
    }
    const simulation run = simulated(one);
    ASSERT_EQ(run.violations, std::vector<std::string>{}) << i;
    const time_of_tiles said = persistent_time(one.work, one.warps);
    ASSERT_EQ(run.total, said.total) << i;
    ASSERT_EQ(run.waiting, said.waiting) << i;
  }
}

TEST(recurrences, count_a_million_tiles_of_ten_thousands_of_stages) {
  // Multiplying decides: the first load, then nothing but multiplying, and the last epilogue.
  sm_work work{of_paper(100, 100, 500, 90), of_paper(100, 100, 500, 90), 2'000'000, 65536};
  const ticks all = work.tiles * work.stages;
  // Of two consumers one ends with it, the other an output tile earlier; what they did not do they waited.
  const ticks waited = 2 * (200 + all * 500 + 90) - 65536 * 500 - all * 500 - work.tiles * 90;
  EXPECT_EQ(persistent_time(work, {1, 2, 3, true}), (time_of_tiles{200 + all * 500 + 90, waited}));
  work.each.math = work.last.math = 10;  // loads do
  EXPECT_EQ(persistent_time(work, {1, 1, 2, true}).total, all * 200 + 10 + 90);
  EXPECT_EQ(persistent_time(work, {2, 1, 2, true}).total, all * 100 + 10 + 90);
  EXPECT_THROW(persistent_time({{}, {}, 0, 1}, {}), std::invalid_argument);
  EXPECT_THROW(persistent_time({}, {1, 1, 13, true}), std::invalid_argument);
}

TEST(simulator, steady_period_counts_the_buffers_where_loads_are_in_flight) {
  for (const ticks latency : {100, 400, 1000, 3000})
    for (const ticks math : {20, 100, 300})
      for (int buffers = 1; buffers <= 8; ++buffers) {
        stage_times t;
        t.a = {50, latency};
        t.b = {0, 0};
        t.math = math;
        const arrangement warps{1, 1, buffers, false};
        // Twice as many whole turns of the buffer: what is added is the period, without the start.
        const ticks one = simulate(std::vector{t}, 1 + 20 * buffers, warps).total;
        const ticks two = simulate(std::vector{t}, 1 + 40 * buffers, warps).total;
        EXPECT_DOUBLE_EQ(static_cast<double>(two - one) / (20 * buffers), steady_period(t, warps));
      }
}

TEST(simulator, persistent_blocks_hide_the_first_load_and_two_consumers_the_epilogue) {
  const stage_times t = of_paper(100, 100, 150, 90);
  const std::vector<stage_times> tiles(5, t);
  const ticks in_waves = simulate(tiles, 8, {1, 1, 3, false}).total;
  const ticks persistent = simulate(tiles, 8, {1, 1, 3, true}).total;
  const ticks two_consumers = simulate(tiles, 8, {1, 2, 3, true}).total;
  EXPECT_EQ(in_waves, 5 * (200 + 150 + 7 * 200 + 90));
  EXPECT_LT(persistent, in_waves);
  EXPECT_EQ(persistent,
            200 + 39 * 200 + 150 + 90);  // loads never stop; the epilogue fits into what they leave
  EXPECT_EQ(two_consumers, persistent);
  const std::vector<stage_times> busy(5, of_paper(100, 100, 300, 90));
  EXPECT_EQ(simulate(busy, 8, {1, 1, 3, true}).total, 200 + 40 * 300 + 5 * 90);
  EXPECT_EQ(simulate(busy, 8, {1, 2, 3, true}).total, 200 + 40 * 300 + 90);  // one epilogue shows
  EXPECT_EQ(simulate(tiles, 8, {1, 2, 3, true}).violations, std::vector<std::string>{});
}

TEST(simulator, the_last_wave_may_be_faster) {
  const std::vector<stage_times> tiles{of_paper(100, 100, 50, 10), of_paper(40, 40, 50, 10)};
  EXPECT_EQ(simulate(tiles, 4, {1, 1, 2, false}).total, (200 * 4 + 50 + 10) + (80 * 4 + 50 + 10));
}

TEST(simulator, more_bandwidth_and_more_buffers_never_cost) {
  std::mt19937 random(7);
  const auto draw = [&](ticks low, ticks high) {
    return std::uniform_int_distribution<ticks>(low, high)(random);
  };
  for (int i = 0; i < 500; ++i) {
    stage_times slow = of_paper(draw(1, 900), draw(1, 900), draw(1, 900), draw(0, 300));
    stage_times fast = slow;
    fast.a.issue = fast.a.latency = slow.a.issue / 2;
    const int stages = static_cast<int>(draw(1, 20));
    for (int buffers = 1; buffers <= 4; ++buffers) {
      const arrangement warps{1, 1, buffers, true};
      const std::vector<stage_times> three(3, slow), quick(3, fast);
      EXPECT_LE(simulate(quick, stages, warps).total, simulate(three, stages, warps).total);
      if (buffers > 1) {
        EXPECT_LE(simulate(three, stages, warps).total,
                  simulate(three, stages, {1, 1, buffers - 1, true}).total);
      }
    }
  }
}

TEST(simulator, a_semaphore_that_is_not_waited_for_is_caught) {
  const std::vector<stage_times> tiles(2, of_paper(100, 100, 350, 10));
  const simulation overrun = simulate(tiles, 6, {1, 1, 2, true}, fault::producer_never_waits);
  EXPECT_GT(overrun.most_in_flight, 2);
  EXPECT_FALSE(overrun.violations.empty());
  const simulation too_early =
      simulate(std::vector(2, of_paper(100, 100, 50, 10)), 6, {1, 1, 2, true}, fault::consumer_never_waits);
  EXPECT_FALSE(too_early.violations.empty());
}

TEST(simulator, the_check_finds_what_a_wrong_schedule_does) {
  const arrangement warps{1, 1, 2, false};
  auto good = simulate(std::vector{of_paper(10, 10, 30, 5)}, 4, warps).activities;
  EXPECT_TRUE(violations(good, 1, 4, warps).empty());
  auto missing = good;
  missing.erase(std::find_if(missing.begin(), missing.end(),
                             [](const activity& a) { return a.kind == activity_kind::load_b; }));
  EXPECT_FALSE(violations(missing, 1, 4, warps).empty());
  auto twice = good;
  twice.push_back(good.front());
  EXPECT_FALSE(violations(twice, 1, 4, warps).empty());
  auto side_by_side = good;
  for (activity& a : side_by_side)
    if (a.kind == activity_kind::math && a.stage == 2) a.begin -= 5;
  EXPECT_FALSE(violations(side_by_side, 1, 4, warps).empty());
}

TEST(simulator, writes_bars_by_agent) {
  const auto bars =
      to_timeline(simulate(std::vector{of_paper(10, 20, 30, 5)}, 1, {2, 1, 1, false}).activities, 10);
  const timeline wanted{{"producer 0", "load A 0.0", 0, 1},
                        {"producer 1", "load B 0.0", 0, 2},
                        {"consumer 0", "multiply 0.0", 2, 5},
                        {"consumer 0", "epilogue of tile 0", 5, 5.5}};
  EXPECT_EQ(bars, wanted);
}

TEST(simulator, refuses_what_cannot_be) {
  const stage_times t = of_paper(1, 1, 1, 0);
  stage_times early = t;
  early.a.latency = 0;
  EXPECT_THROW(simulate({}, 1, {}), std::invalid_argument);
  EXPECT_THROW(simulate(std::vector{t}, 0, {}), std::invalid_argument);
  EXPECT_THROW(simulate(std::vector{t}, 1, {3, 1, 1, false}), std::invalid_argument);
  EXPECT_THROW(simulate(std::vector{early}, 1, {}), std::invalid_argument);
  EXPECT_THROW(waves_time({t, t, 1, 1}, {1, 1, 2, true}), std::invalid_argument);
  EXPECT_THROW(simulate(std::vector(2048, t), 1 << 20, {}),
               std::invalid_argument);  // 2^31 stages: more than memory, and than an int
}

}}  // namespace mgsync::pipeline
