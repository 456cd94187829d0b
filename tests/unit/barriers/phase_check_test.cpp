// The schedule of a check: nobody is spared, no round is another's repetition.
#include "barriers/parts/round_loop/phase_check.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace mgsync::round_loop { namespace {

constexpr std::uint32_t rounds = 10'000;  // of a check, unless asked otherwise

struct held {
  std::vector<unsigned> short_times, long_times;  // by worker
  held(std::uint32_t seed, std::uint32_t first, unsigned workers)
      : short_times(workers), long_times(workers) {
    for (std::uint32_t r = first; r < first + rounds; ++r)
      ++(holds_long(r) ? long_times : short_times)[late_worker(seed, r, workers)];
  }
};

TEST(schedule, everybody_comes_last_equally_often) {
  // 528 workers: 132 multiprocessors with 4 blocks each.
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 8u, 132u, 528u})
    for (const std::uint32_t seed : {1u, 77u}) {
      const held seen(seed, 256, workers);  // after a positive control
      const auto [least, most] = std::ranges::minmax(seen.short_times);
      EXPECT_GE(least, 9375 / workers - 1) << workers;
      EXPECT_LE(most, least + 2) << workers;
      EXPECT_LE(std::ranges::max(seen.long_times), std::ranges::min(seen.long_times) + 2) << workers;
      EXPECT_EQ(std::accumulate(seen.long_times.begin(), seen.long_times.end(), 0u),
                rounds / long_hold_every);
    }
}

TEST(schedule, one_cycle_holds_every_worker_once) {
  for (const unsigned workers : {5u, 528u, 1000u, 4224u, 33792u}) {
    std::set<unsigned> late;
    for (std::uint32_t r = 0, shorts = 0; shorts < workers; ++r)
      if (!holds_long(r)) ++shorts, late.insert(late_worker(3, r, workers));
    EXPECT_EQ(late.size(), workers);
  }
}

TEST(schedule, steps_have_no_factor_in_common_with_a_number_of_workers) {
  for (const unsigned lacks : {7u, 13u, 25u, 33u, 37u, 51u, 57u, 85u}) {
    const unsigned step = (1u << 20) + lacks;
    for (unsigned d = 2; d * d <= step; ++d) ASSERT_NE(step % d, 0u) << step;
  }
}

// What a round is, as a check of 528 workers sees it: who is late, and how everybody is delayed and reads.
std::vector<unsigned> round_of(std::uint32_t seed, std::uint32_t round) {
  constexpr unsigned workers = 528;
  std::vector<unsigned> all{late_worker(seed, round, workers), holds_long(round) ? 1u : 0u};
  for (unsigned w = 0; w < workers; w += 7) {
    all.push_back(skew(seed, round, w));
    all.push_back(payload_target(w, workers, round));
  }
  return all;
}

TEST(schedule, no_two_rounds_are_alike) {
  std::set<std::vector<unsigned>> seen;
  for (std::uint32_t r = 0; r < 40'000; ++r) EXPECT_TRUE(seen.insert(round_of(1, r)).second) << r;
  unsigned same = 0;
  for (std::uint32_t r = 0; r < 10'000; ++r) same += seen.count(round_of(2, r));
  EXPECT_EQ(same, 0u) << "another seed is another schedule";
}

TEST(schedule, readers_see_the_late_worker) {
  constexpr unsigned workers = 528;
  for (std::uint32_t r = 0; r < 1000; ++r) {
    const unsigned late = late_worker(9, r, workers);
    for (unsigned self = 0; self < workers; self += 31)
      if (self != late) { EXPECT_EQ(read_target(reading_of(9, self, workers, r), self, workers, 0), late); }
  }
}

TEST(schedule, nobody_reads_itself) {
  for (const unsigned workers : {2u, 5u, 129u, 130u, 528u})
    for (std::uint32_t r = 0; r < 50; ++r)
      for (unsigned self = 0; self < workers; ++self) {
        const auto turn = reading_of(4, self, workers, r);
        EXPECT_NE(turn.payload_of, self);
        EXPECT_LT(turn.payload_of, workers);
        std::set<unsigned> others;
        for (unsigned i = 0; i < read_count(workers); ++i) others.insert(read_target(turn, self, workers, i));
        EXPECT_FALSE(others.contains(self));
        EXPECT_LT(*others.rbegin(), workers);
        EXPECT_GE(others.size() + 1, read_count(workers)) << "at most the late worker is read twice";
      }
}

// What a barrier that drops one edge shows: the round in which the worker that is not waited for comes last.
TEST(schedule, a_dropped_edge_shows_wherever_it_is) {
  constexpr unsigned workers = 528;
  for (unsigned dropped = 0; dropped < workers; ++dropped) {
    bool shows = false;
    for (std::uint32_t r = 256; r < 256 + rounds && !shows; ++r)
      shows = late_worker(5, r, workers) == dropped;
    EXPECT_TRUE(shows) << dropped;
  }
}

// One worker's skew never outlasts a short hold, with time left for the barrier.
TEST(schedule, a_late_worker_comes_after_all_skews) {
  for (std::uint32_t r = 0; r < 2000; ++r)
    for (unsigned w = 0; w < 64; ++w) EXPECT_LE(skew_unit_ns * skew(1, r, w), short_hold_ns / 5);
}

}}  // namespace mgsync::round_loop
