// Members on several hosts: a barrier in memory that all of them address says that it has none, before
// anything is started.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "barriers/backend.hpp"

namespace mgsync { namespace {

topology::group gpus_on(std::string_view first, std::string_view second) {
  topology::group g;
  g.device = topology::device::gpu;
  for (const int i : {0, 1}) {
    g.members.emplace_back();
    g.members.back().id = g.members.back().gpu = g.members.back().rank = i;
    g.members.back().host = i == 0 ? first : second;
  }
  return g;
}

TEST(several_hosts, the_device_barrier_of_nccl_is_one_of_each_host_alone) {
  const auto all = backends();
  const auto found = std::ranges::find(all, std::string_view("nccl-device"), &backend::name);
  ASSERT_NE(found, all.end());
  for (const auto& variant : (*found)->variants) {
    const auto apart = can_run(**found, variant, {}, gpus_on("a", "b"), {});
    EXPECT_FALSE(apart.ok) << variant.name;
    EXPECT_NE(apart.reason.find("on several hosts (--per-node measures each)"), std::string::npos)
        << apart.reason;
    EXPECT_EQ(can_run(**found, variant, {}, gpus_on("a", "a"), {}).reason.find("several hosts"),
              std::string::npos)
        << variant.name;
  }
}

}}  // namespace mgsync
