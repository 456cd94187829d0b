#include "topology/pinning.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "topology/discovery.hpp"

namespace mgsync::topology {
namespace {

TEST(pinning, is_confirmed_by_the_kernel_and_stays_in_its_thread) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    for (const int cpu : before) {
      const auto result = pin_this_thread(cpu);
      EXPECT_TRUE(result.pinned) << result.reason;
      EXPECT_EQ(result.mask, std::vector{cpu});
      EXPECT_EQ(result.cpu, cpu);
      EXPECT_TRUE(restrict_this_thread(before));
    }
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(pinning, a_cpu_that_does_not_exist_is_refused) {
  const auto before = allowed_cpus();
  for (const int cpu : {-1, 60000, 65536, 2000000000}) {
    const auto result = pin_this_thread(cpu);
    EXPECT_FALSE(result.pinned);
    EXPECT_NE(result.reason.find("the kernel refused to pin to CPU"), std::string::npos) << result.reason;
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(discovery, this_machine_has_the_cpus_that_the_kernel_allows) {
  const auto m = discover({});
  EXPECT_TRUE(m.is_this_machine);
  EXPECT_EQ(m.source, "this machine");
  EXPECT_EQ(m.allowed_cpus, allowed_cpus());
  EXPECT_FALSE(m.cores.empty());
  EXPECT_FALSE(m.packages.empty());
  EXPECT_FALSE(m.numa_nodes.empty());
  EXPECT_TRUE(!m.gpus.empty() || !m.notes.empty()) << "no GPU needs a reason";
}

}  // namespace
}  // namespace mgsync::topology
