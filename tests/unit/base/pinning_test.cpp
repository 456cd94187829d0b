#include "src/base/pinning.hpp"

#include <sched.h>

#include <thread>

#include <gtest/gtest.h>

namespace mgsync {
namespace {

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

}  // namespace
}  // namespace mgsync
