#include "src/base/pinning.hpp"

#include <sched.h>

#include <thread>

#include <gtest/gtest.h>

namespace mgsync { namespace {

TEST(pinning, is_confirmed_by_the_kernel_and_stays_in_its_thread) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    for (const int cpu : before) {
      EXPECT_EQ(pin_calling_thread(cpu), "");
      EXPECT_EQ(allowed_cpus(), std::vector{cpu});
      EXPECT_EQ(sched_getcpu(), cpu);
      EXPECT_TRUE(restrict_calling_thread(before));
    }
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(pinning, a_cpu_that_does_not_exist_is_refused) {
  const auto before = allowed_cpus();
  for (const int cpu : {-1, 60000, 65536, 2000000000})
    EXPECT_NE(pin_calling_thread(cpu).find("the kernel refused to pin to CPU"), std::string::npos);
  EXPECT_EQ(allowed_cpus(), before);
}

// Long and short of the same run: what a kernel's thread takes is next to nothing, and a thread that sleeps
// by itself lost nothing.
TEST(running_time, tells_what_others_took) {
  using namespace std::chrono_literals;
  const running_time before{10ms, 3, 7};
  EXPECT_EQ(share_taken(before, {30ms, 3, 7}, 20ms), 0);
  EXPECT_NEAR(share_taken(before, {20ms, 3, 8}, 20ms).value_or(-1), 0.5, 1e-12);
  EXPECT_NEAR(share_taken(before, {29980us, 3, 8}, 20ms).value_or(-1), 0.001, 1e-9);
  EXPECT_EQ(share_taken(before, {31ms, 3, 8}, 20ms), 0);  // the two clocks differ a little
  EXPECT_FALSE(share_taken(before, {20ms, 4, 8}, 20ms));
  EXPECT_FALSE(share_taken(before, before, 0ms));
  const auto now = running_time_now();
  EXPECT_GT(now.cpu.count(), 0);
  EXPECT_GE(running_time_now().cpu, now.cpu);
}

}}  // namespace mgsync
