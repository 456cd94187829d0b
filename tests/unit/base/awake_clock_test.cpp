#include "src/base/awake_clock.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace mgsync { namespace {

using namespace std::chrono_literals;

// As long as a keeper lives, who looks at the clock after longer than a keeper ever takes was stopped.
TEST(awake_clock, leaves_out_what_nobody_saw) {
  const awake_clock::keeper kept;
  const auto before = awake_clock::stopped();
  const auto begin = awake_clock::now();
  std::this_thread::sleep_for(700ms);
  EXPECT_LT(awake_clock::now() - begin, 500ms);
  EXPECT_GE(awake_clock::stopped() - before, 700ms);
  EXPECT_GE(awake_clock::stopped_within(60s), 700ms);
  EXPECT_EQ(awake_clock::stopped_within(-1s).count(), 0);
}

TEST(awake_clock, leaves_out_nothing_where_nobody_keeps_it) {
  const auto before = awake_clock::stopped();
  const auto begin = awake_clock::now();
  std::this_thread::sleep_for(700ms);
  EXPECT_GE(awake_clock::now() - begin, 700ms);
  EXPECT_EQ(awake_clock::stopped(), before);
}

}}  // namespace mgsync
