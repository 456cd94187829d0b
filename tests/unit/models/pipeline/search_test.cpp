// Brute force, the closed form and the simulator, and Z3 where it is in the build, on seeded problems.
#include "src/models/pipeline/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "src/models/pipeline/simulator.hpp"

namespace mgsync::pipeline { namespace {

struct problem {
  machine on;
  extent size;
  search_space space;
};

// Sizes 32 to 1024 in steps of 32, DMA over ALU from a hundredth to a hundredfold, loads serial, parallel and
// in flight.
problem seeded(unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  problem p;
  p.on = rtx_a6000();
  constexpr double ratios[] = {0.01, 0.1, 1, 10, 100};
  p.on.dma = {static_cast<double>(draw(0, 600)), 40.0 + draw(0, 200)};
  p.on.math = {static_cast<double>(draw(0, 50)), p.on.dma.per_ns / ratios[seed % 5]};
  p.on.producers = draw(1, 2);
  p.on.dma_latency_ns = draw(0, 1) * draw(100, 900);
  p.on.epilogue = {static_cast<double>(draw(0, 900)), 0};
  p.on.query_ns = draw(0, 1) * draw(5, 20);
  p.on.handover_ns = draw(0, 1) * draw(10, 40);
  p.on.sms = draw(4, 140);
  p.size = {32 * draw(1, 32), 32 * draw(1, 32), 32 * draw(1, 32)};
  p.space = {{}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2}};
  for (const int tm : {64, 128, 192})
    for (const int tn : {64, 128})
      for (const int tk : {64, 128}) p.space.tiles.push_back({tm, tn, tk});
  return p;
}

// Without a shortcut: every candidate, simulated.
prediction simulated(const machine& m, extent size, const configuration& c) {
  const auto tiles = waves_on(m, size, c.tile);
  const simulation run = simulate(tiles, stages(size, c.tile), c.warps);
  EXPECT_TRUE(run.violations.empty());
  return {static_cast<ticks>(m.launch_ns * ticks_per_ns + 0.5) + run.total, run.waiting};
}

TEST(brute_force, skips_nothing_that_would_have_won) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    problem p = seeded(seed);
    p.on.persistent = seed % 3 == 2;
    p.on.chip_bytes_per_ns = seed % 4 == 3 ? 3000 : 0;
    const search_answer found = brute_force(p.on, p.size, p.space);
    ticks least = 0;
    for (const configuration& c : candidates(p.on, p.space)) {
      const prediction time = simulated(p.on, p.size, c);
      if (!p.on.persistent) { ASSERT_EQ(time.total, predict(p.on, p.size, c).total); }
      least = least == 0 ? time.total : std::min(least, time.total);
    }
    ASSERT_EQ(found.time.total, least) << seed;
    ASSERT_EQ(simulated(p.on, p.size, found.best).total, least);
  }
}

class z3_beside_brute_force : public testing::TestWithParam<unsigned> {};

TEST_P(z3_beside_brute_force, finds_the_same_least_time) {
  if (!has_z3()) GTEST_SKIP() << "no Z3 in this build";
  int optimal = 0, late = 0;
  double slowest = 0;
  for (unsigned seed = GetParam(); seed < GetParam() + 10; ++seed) {
    const problem p = seeded(seed);
    const auto found = solve_with_z3(p.on, p.size, p.space, std::chrono::milliseconds(4000));
    ASSERT_TRUE(found.has_value());
    slowest = std::max(slowest, found->seconds);
    if (found->how == search_answer::outcome::time_out) {  // an answer, and no wrong one
      ++late;
      continue;
    }
    ASSERT_EQ(found->how, search_answer::outcome::optimal) << found->reason;
    const search_answer brute = brute_force(p.on, p.size, p.space);
    EXPECT_EQ(found->time.total, brute.time.total) << "seed " << seed;
    EXPECT_EQ(predict(p.on, p.size, found->best).total, brute.time.total) << "seed " << seed;
    EXPECT_TRUE(fits(p.on, found->best));
    ++optimal;
  }
  std::printf("seeds %u to %u: %d optimal, %d time-outs, the slowest %.2f s\n", GetParam(), GetParam() + 9,
              optimal, late, slowest);
  EXPECT_GT(optimal, 0);
}
INSTANTIATE_TEST_SUITE_P(seeds, z3_beside_brute_force, testing::Values(0u, 10u, 20u, 30u, 40u, 50u));

TEST(z3, says_when_it_ran_out_of_time) {
  if (!has_z3()) GTEST_SKIP() << "no Z3 in this build";
  const auto found =
      solve_with_z3(rtx_a6000(), {1024, 1024, 8192}, wide_space(), std::chrono::milliseconds(1));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->how, search_answer::outcome::time_out) << found->reason;
  EXPECT_NE(found->reason.find("1 ms"), std::string::npos) << found->reason;
}

// The recurrences carried on over the output tiles of an SM, against the simulator through brute force.
TEST(z3, finds_the_same_optimum_on_persistent_machines) {
  if (!has_z3()) GTEST_SKIP() << "no Z3 in this build";
  int optimal = 0, several_tiles = 0;
  double slowest = 0;
  for (unsigned seed = 100; seed < 112; ++seed) {
    problem p = seeded(seed);
    p.on.persistent = true;
    p.on.sms = 6 + static_cast<int>(seed % 12);
    p.size.k = std::min(p.size.k, 256);
    p.on.chip_bytes_per_ns = seed % 4 == 3 ? 3000 : 0;
    const auto found = solve_with_z3(p.on, p.size, p.space, std::chrono::milliseconds(30'000));
    ASSERT_TRUE(found.has_value());
    slowest = std::max(slowest, found->seconds);
    ASSERT_EQ(found->how, search_answer::outcome::optimal) << found->reason;
    const search_answer brute = brute_force(p.on, p.size, p.space);
    EXPECT_EQ(found->time, brute.time) << "seed " << seed;
    EXPECT_EQ(predict(p.on, p.size, found->best), brute.time) << "seed " << seed;
    EXPECT_TRUE(fits(p.on, found->best) && found->best.warps.persistent);
    several_tiles += waves(p.size, found->best.tile, p.on.sms) > 2;
    ++optimal;
  }
  std::printf("persistent: %d optimal, %d of more than two output tiles to an SM, the slowest %.2f s\n",
              optimal, several_tiles, slowest);
  EXPECT_GT(several_tiles, 0);
}

// Writing a problem of 14 million stages down alone would take minutes.
TEST(z3, keeps_its_limit_whatever_it_is_asked) {
  if (!has_z3()) GTEST_SKIP() << "no Z3 in this build";
  for (const extent size : {extent{8192, 28672, 8192}, extent{1048576, 1048576, 1048576}}) {
    const auto found = solve_with_z3(h200(), size, wide_space(), std::chrono::milliseconds(1000));
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->how == search_answer::outcome::time_out ||
                found->how == search_answer::outcome::unknown)
        << found->reason;
    EXPECT_FALSE(found->reason.empty());
    EXPECT_LT(found->seconds, 20);  // on a busy machine; minutes without the limit
  }
}

TEST(brute_force, answers_the_largest_product) {
  const extent largest{1048576, 1048576, 1048576};
  const auto found = brute_force(h200(), largest, wide_space());
  ASSERT_EQ(found.how, search_answer::outcome::optimal);
  const double seconds = static_cast<double>(found.time.total) * 1e-12;
  const double multiply_adds = 1048576.0 * 1048576 * 1048576;
  EXPECT_GT(seconds, multiply_adds / (132 * h200().math_peak_per_ns * 1e9));  // no tile multiplies more
  EXPECT_LT(seconds, 2 * multiply_adds / 600e12);
}

TEST(z3, says_of_a_persistent_machine_too_that_it_ran_out_of_time) {
  if (!has_z3()) GTEST_SKIP() << "no Z3 in this build";
  machine m = rtx_a6000();
  m.persistent = true;
  const auto found = solve_with_z3(m, {4096, 4096, 4096}, wide_space(), std::chrono::milliseconds(1));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->how, search_answer::outcome::time_out);
}

TEST(searches, say_when_nothing_fits) {
  machine m = rtx_a6000();
  m.shared_bytes = 1000;
  EXPECT_EQ(brute_force(m, {256, 256, 256}, paper_space()).how, search_answer::outcome::nothing_fits);
  if (has_z3()) {
    EXPECT_EQ(solve_with_z3(m, {256, 256, 256}, paper_space(), std::chrono::milliseconds(1000))->how,
              search_answer::outcome::nothing_fits);
  }
}

TEST(relaxations, name_what_binds) {
  machine m = rtx_a6000();
  m.launch_ns = 0;
  m.math.per_ns = 1;  // multiplying decides everything
  const auto found =
      relaxations(m, {512, 512, 512}, paper_space(), brute_force(m, {512, 512, 512}, paper_space()));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().what, "MATH throughput");
  EXPECT_GT(found.front().gain_percent, 45);
}

}}  // namespace mgsync::pipeline
