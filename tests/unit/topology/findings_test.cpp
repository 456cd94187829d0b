#include "topology/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "small_machines.hpp"

namespace mgsync::topology {
namespace {

using test::cube_mesh_machine;
using test::host_machine;
using test::ranks_of;

std::vector<std::string> names(std::span<const rank_view> views, int per_rank = 0) {
  std::vector<std::string> result;
  for (const auto& f : find_problems(views, per_rank)) {
    EXPECT_FALSE(f.what.empty());
    EXPECT_FALSE(f.change.empty()) << f.name;
    result.push_back(f.name);
  }
  return result;
}

// All GPUs linked, all as it should be.
machine good_machine() {
  auto m = cube_mesh_machine();
  m.links.clear();
  m.switches = {{0, "0000:c4:00.0"}};
  for (int i = 0; i < 8; ++i) m.links.push_back({{end_kind::gpu, i}, {end_kind::nvswitch, 0}, 12, 3, 25});
  for (auto& p : m.peers) p.access = p.atomics = true;
  return m;
}

using list = std::vector<std::string>;

TEST(findings, none_where_all_is_well) {
  EXPECT_EQ(names(ranks_of(good_machine(), 1)), list{});
  EXPECT_EQ(names(ranks_of(good_machine(), 8)), list{});
  EXPECT_EQ(names(ranks_of(host_machine(1, 2), 1)), list{});
}

TEST(findings, a_mesh_lacks_peer_access) { EXPECT_EQ(names(ranks_of(cube_mesh_machine(), 1)), list{"no-peer-access"}); }

TEST(findings, pcie_atomics_and_acs) {
  auto m = good_machine();
  m.links.clear();
  for (auto& p : m.peers) p.atomics = false;
  EXPECT_EQ(names(ranks_of(m, 1)), (list{"pcie-only", "no-peer-atomics"}));
  for (auto& p : m.peers) {
    p.access = false;
    p.path = pcie_path::pix;
  }
  EXPECT_EQ(names(ranks_of(m, 1)), (list{"no-peer-access", "acs-or-iommu"}));
}

TEST(findings, nothing_is_said_about_pairs_that_nobody_asked) {
  auto m = good_machine();
  m.peers.clear();
  EXPECT_EQ(names(ranks_of(m, 1)), list{});
}

TEST(findings, ranks_that_share_a_gpu_are_named) {
  const auto views = ranks_of(good_machine(), 9);
  EXPECT_EQ(names(views), list{"shared-gpu"});
}

TEST(findings, binding_per_task_hides_gpus) {
  auto views = ranks_of(good_machine(), 2);
  for (auto& v : views)
    for (auto& g : v.seen.gpus) {
      g.cuda_ordinal.reset();
      if (g.id == v.rank) g.cuda_ordinal = 0;
    }
  EXPECT_EQ(names(views), list{"hidden-gpus"});
  EXPECT_NE(find_problems(views, 0)[0].change.find("--gpu-bind=none"), std::string::npos);
}

TEST(findings, hidden_gpus_of_one_process_name_the_variable) {
  auto m = good_machine();
  m.gpus[5].cuda_ordinal.reset();
  const auto found = find_problems(ranks_of(m, 1), 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "CUDA shows 7 of 8 GPUs.");
  EXPECT_NE(found[0].change.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
}

TEST(findings, a_small_mask_and_a_mask_on_the_wrong_node) {
  auto m = good_machine();
  m.allowed_cpus = {0, 1, 2};
  EXPECT_EQ(names(ranks_of(m, 1)), (list{"small-mask", "wrong-node", "oversubscribed"}));
  auto views = ranks_of(good_machine(), 1);
  views[0].seen.allowed_cpus = {4, 5, 6, 7};  // of package 1, while near takes GPU 0 of package 0
  EXPECT_EQ(names(views, 1), list{"wrong-node"});
}

TEST(differences, ranks_of_a_host_are_compared_field_by_field) {
  auto views = ranks_of(good_machine(), 3);
  EXPECT_TRUE(differences(views).empty());
  views[1].seen.allowed_cpus = {0, 1};
  views[2].seen.gpus[0].cuda_ordinal.reset();
  const auto found = differences(views);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "Rank 1 on box differs from rank 0: CPUs 0-1 instead of 0-15.");
  EXPECT_NE(found[1].find("Rank 2 on box differs from rank 0: CUDA shows 7 GPU(s) [1-7] instead of 8"),
            std::string::npos) << found[1];
}

TEST(differences, hosts_may_differ_in_names_but_not_in_shape) {
  auto views = ranks_of(good_machine(), 2);
  views[1].seen.host = "other";
  for (auto& g : views[1].seen.gpus) g.uuid += "-other";
  EXPECT_TRUE(differences(views).empty());
  views[1].seen.links.pop_back();
  ASSERT_EQ(differences(views).size(), 1U);
  EXPECT_NE(differences(views)[0].find("Host other is another machine than box: GPUs 0 and 7 are connected by"),
            std::string::npos) << differences(views)[0];
}

}  // namespace
}  // namespace mgsync::topology
