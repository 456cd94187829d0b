// The waits of host members. This program counts its own yields: on a busy machine each may cost a time
// slice.
#include "barriers/parts/algorithm/host_policy.hpp"

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

namespace {
unsigned yields = 0;
}

// In place of the C library's.
extern "C" int sched_yield() noexcept {
  ++yields;
  return 0;
}

namespace mgsync { inline namespace v1 { namespace algorithm { namespace {

host_policy waiting(std::uint32_t& abort, std::chrono::nanoseconds patience, bool (*asked_to_stop)()) {
  return host_policy(host_limits{patience, &abort, true, asked_to_stop});
}

TEST(host_policy, a_yielding_wait_looks_at_the_clock_after_few_yields) {
  static unsigned looks = 0;
  std::uint32_t abort = 0, word = 0;
  yields = 0;
  EXPECT_FALSE(waiting(abort, std::chrono::hours(1), [] { return ++looks == 20; }).wait_system(word, 1));
  EXPECT_EQ(abort, host_limits::interrupted);
  EXPECT_GT(yields, 0u);
  EXPECT_LE(yields / looks, 20u) << "at 3 ms each and more, a deadline would be noticed late";
}

TEST(host_policy, a_wait_ends_when_its_patience_does) {
  std::uint32_t abort = 0, word = 0;
  EXPECT_FALSE(waiting(abort, std::chrono::milliseconds(1), nullptr).wait_system(word, 1));
  EXPECT_EQ(abort, host_limits::timed_out);
}

// A clock that stands still: the process was stopped.
TEST(host_policy, time_is_that_of_its_clock) {
  static int looks = 0;
  std::uint32_t abort = 0, word = 0;
  host_limits limits{std::chrono::milliseconds(1), &abort, true, [] { return ++looks == 5000; },
                     [] { return std::chrono::nanoseconds(7); }};
  EXPECT_FALSE(host_policy(limits).wait_system(word, 1));
  EXPECT_EQ(abort, host_limits::interrupted);
}

TEST(host_policy, a_run_that_lasts_too_long_ends_in_a_wait_that_does_not) {
  std::uint32_t abort = 0, word = 0;
  host_limits limits{std::chrono::hours(1), &abort, true, nullptr};
  limits.ends = host_limits::steady();
  EXPECT_FALSE(host_policy(limits).wait_system(word, 1));
  EXPECT_EQ(abort, host_limits::overdue);
}

TEST(host_policy, a_wait_for_what_is_there_does_not_yield) {
  std::uint32_t abort = 0, word = 1;
  yields = 0;
  EXPECT_TRUE(waiting(abort, std::chrono::milliseconds(1), nullptr).wait_system(word, 1));
  EXPECT_EQ(yields, 0u);
}

}}}}  // namespace mgsync::v1::algorithm
