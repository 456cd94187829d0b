#include "topology/discovery.hpp"

#include <gtest/gtest.h>

#include "src/base/pinning.hpp"

namespace mgsync::topology { namespace {

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

}}  // namespace mgsync::topology
