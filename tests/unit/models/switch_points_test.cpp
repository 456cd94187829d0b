#include "src/models/switch_points/switch_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace mgsync::model { namespace {

// Paper 000, table III: B/cycle and cycles on V100 and P100.
const configuration v100_thread{"1 thread", 0.62, 13.0}, v100_warp{"1 warp", 19.6, 13.0},
    v100_block{"1024 threads", 215, 13.0};
const configuration p100_thread{"1 thread", 0.43, 18.5}, p100_warp{"1 warp", 13.8, 18.5},
    p100_block{"1024 threads", 141, 18.5};

// The eight points of table IV: exactly what the printed inputs give, and the paper's figures within 2 %.
TEST(switch_points, gives_the_papers_table_iv) {
  struct known {
    configuration basic, more;
    double sync, large, middle, paper_large, paper_middle;
  };
  for (const auto& k : {known{v100_thread, v100_warp, 110, 70.4, 76.3, 70, 76},
                        {p100_thread, p100_warp, 155, 68.8, 74.6, 70, 75},
                        {v100_warp, v100_block, 420, 9058, 8487, 9076, 8501},
                        {p100_warp, p100_block, 2135, 32660, 29718, 32681, 29737}}) {
    const auto found = where_they_meet(k.basic, k.more, k.sync);
    EXPECT_NEAR(found.large_formula, k.large, 0.005 * k.large) << k.basic.name;
    EXPECT_NEAR(found.middle_formula, k.middle, 0.005 * k.middle) << k.basic.name;
    EXPECT_NEAR(found.large_formula, k.paper_large, 0.02 * k.paper_large) << k.basic.name;
    EXPECT_NEAR(found.middle_formula, k.paper_middle, 0.02 * k.paper_middle) << k.basic.name;
  }
}

// Concurrency of table III: 8, 256 and 2796 bytes on V100 (8, 256, 2615 on P100), within the two digits of
// its inputs.
TEST(switch_points, gives_the_papers_table_iii) {
  EXPECT_NEAR(concurrency_bytes(v100_thread), 8, 0.1);
  EXPECT_NEAR(concurrency_bytes(v100_warp), 256, 2);
  EXPECT_NEAR(concurrency_bytes(v100_block), 2796, 2);
  EXPECT_NEAR(concurrency_bytes(p100_block), 2615, 8);
}

// What the text says: 32 doubles want a warp, 1024 doubles want no block of 1024 threads.
TEST(switch_points, advises_as_the_paper_does) {
  EXPECT_GT(time_of(v100_thread, 256), time_of(v100_warp, 256, 110));
  EXPECT_LT(time_of(v100_warp, 8192), time_of(v100_block, 8192, 420));
}

// On V100 the point of one thread and a warp lies between both concurrencies, that of a warp and a block
// above.
TEST(switch_points, a_candidate_counts_in_its_own_range_only) {
  const auto warp = where_they_meet(v100_thread, v100_warp, 110);
  EXPECT_TRUE(warp.middle.has_value());
  EXPECT_FALSE(warp.large.has_value());
  EXPECT_EQ(warp.for_good, warp.middle);
  const auto block = where_they_meet(v100_warp, v100_block, 420);
  EXPECT_FALSE(block.middle.has_value());
  EXPECT_TRUE(block.large.has_value());
  EXPECT_EQ(block.for_good, block.large);
}

TEST(switch_points, times_are_equal_at_the_switch_point_and_ordered_beside_it) {
  double last = 0;
  for (double sync = 1; sync < 1e5; sync *= 1.7) {
    const auto at = where_they_meet(v100_warp, v100_block, sync).for_good;
    ASSERT_TRUE(at.has_value()) << sync;
    EXPECT_NEAR(time_of(v100_warp, *at) / time_of(v100_block, *at, sync), 1, 1e-9);
    EXPECT_LT(time_of(v100_warp, *at * 0.99), time_of(v100_block, *at * 0.99, sync));
    EXPECT_GT(time_of(v100_warp, *at * 1.01), time_of(v100_block, *at * 1.01, sync));
    EXPECT_GT(*at, last);
    last = *at;
  }
}

TEST(switch_points, says_where_one_side_always_wins) {
  EXPECT_EQ(where_they_meet(v100_warp, {"slower", 10, 13}, 5).for_good, std::nullopt);
  EXPECT_EQ(where_they_meet(v100_warp, {"free", 30, 13}, 0).for_good, 0);
  EXPECT_TRUE(std::isinf(where_they_meet(v100_warp, {"slower", 10, 13}, 5).large_formula));
}

TEST(switch_points, refuses_what_cannot_be) {
  EXPECT_THROW(where_they_meet({"none", 0, 1}, v100_warp, 1), std::invalid_argument);
  EXPECT_THROW(where_they_meet(v100_warp, {"none", 1, 0}, 1), std::invalid_argument);
  EXPECT_THROW(where_they_meet(v100_warp, v100_block, -1), std::invalid_argument);
}

TEST(crossing, finds_the_models_own_switch_point) {
  std::vector<double> bytes, basic, more;
  for (double n = 8; n <= 65536; n *= 2) {
    bytes.push_back(n);
    basic.push_back(time_of(v100_warp, n));
    more.push_back(time_of(v100_block, n, 420));
  }
  const auto found = crossing_of(bytes, basic, more);
  const auto expected = *where_they_meet(v100_warp, v100_block, 420).for_good;
  ASSERT_TRUE(found.for_good.has_value());
  EXPECT_NEAR(*found.for_good / expected, 1, 0.05);
  EXPECT_EQ(found.first, found.for_good);
}

TEST(crossing, tells_the_first_from_the_last) {
  const auto found = crossing_of({1, 2, 4, 8, 16}, {10, 20, 20, 40, 80}, {15, 15, 25, 30, 30});
  EXPECT_LT(*found.first, 2);
  EXPECT_GT(*found.for_good, 4);
  EXPECT_EQ(crossing_of({1, 2}, {1, 1}, {2, 2}).first, std::nullopt);
  EXPECT_EQ(crossing_of({1, 2}, {2, 1}, {1, 2}).for_good, std::nullopt);
  EXPECT_EQ(*crossing_of({1, 2}, {2, 2}, {1, 1}).for_good, 1);
  EXPECT_THROW(crossing_of({2, 1}, {1, 1}, {1, 1}), std::invalid_argument);
  EXPECT_THROW(crossing_of({1}, {1}, {1}), std::invalid_argument);
}

}}  // namespace mgsync::model
