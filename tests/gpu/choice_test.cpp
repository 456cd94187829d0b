// What `auto` picks is a value: tested without a GPU.
#include <gtest/gtest.h>

#include "barriers/library/choice.hpp"

namespace mgsync { namespace {

constexpr unsigned sms = 132;

TEST(choice, stays_within_what_the_algorithms_hold) {
  for (unsigned members = 1; members <= 16; ++members)
    for (unsigned per_sm = 1; per_sm <= 32; ++per_sm) {
      const auto c = choose_multigrid(members, per_sm * sms, sms);
      EXPECT_FALSE(c.why.empty());
      EXPECT_EQ(c.counter && members > 1, false) << "the spread counter is for one GPU";
      if (c.counter) {
        EXPECT_LE(c.spread.counters, algorithm::spread_shape::most);
        EXPECT_LE(c.spread.copies, algorithm::spread_shape::most);
      } else {
        EXPECT_LE(c.relay.counters, algorithm::relay_shape::most_counters);
        EXPECT_LE(c.relay.replicas * members, algorithm::relay_shape::most_words);
        EXPECT_GE(c.relay.replicas, 1u);
      }
    }
}

TEST(choice, few_blocks_let_the_last_one_speak) {
  EXPECT_EQ(choose_multigrid(4, 1, sms).relay.counters, 1u);
  EXPECT_EQ(choose_multigrid(4, sms, sms).relay.counters, 1u);
  EXPECT_EQ(choose_multigrid(4, 4 * sms, sms).relay.counters, 1u);
}

TEST(choice, many_blocks_spread_their_arrivals) {
  EXPECT_EQ(choose_multigrid(4, 32 * sms, sms).relay.counters, 32u);
  EXPECT_EQ(choose_multigrid(4, 32 * sms, sms).relay.replicas, 32u);
  EXPECT_EQ(choose_multigrid(16, 32 * sms, sms).relay.replicas, 8u);
}

TEST(choice, one_gpu_uses_one_hop_while_that_pays) {
  EXPECT_TRUE(choose_multigrid(1, sms, sms).counter);
  EXPECT_TRUE(choose_multigrid(1, 8 * sms, sms).counter);
  EXPECT_FALSE(choose_multigrid(1, 32 * sms, sms).counter);
}

}}  // namespace mgsync
