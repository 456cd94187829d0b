#include "topology/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "small_machines.hpp"

namespace mgsync::topology { namespace {

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

TEST(findings, a_mesh_lacks_peer_access) {
  EXPECT_EQ(names(ranks_of(cube_mesh_machine(), 1)), list{"no-peer-access"});
}

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

TEST(findings, slurm_giving_gpus_per_task_is_named_with_what_to_ask_for) {
  auto views = ranks_of(host_machine(1, 4), 2);  // no GPU is left to be seen
  for (auto& v : views) v.binding = {"SLURMD_TRES_BIND=gpu:per_task:1", std::to_string(v.rank)};
  ASSERT_EQ(names(views), list{"gpus-per-task"});
  const auto found = find_problems(views, 0)[0];
  EXPECT_NE(found.what.find("SLURMD_TRES_BIND=gpu:per_task:1 on rank 0"), std::string::npos);
  EXPECT_NE(found.change.find("GPUs per node, not per task"), std::string::npos);
  views.pop_back();
  EXPECT_EQ(names(views), list{}) << "one rank on a host hides nothing from another";
}

TEST(findings, ranks_with_other_visible_devices_are_told_once) {
  auto views = ranks_of(good_machine(), 2);
  for (auto& v : views) {
    v.binding.visible = std::to_string(v.rank);
    for (auto& g : v.seen.gpus) {
      g.cuda_ordinal.reset();
      if (g.id == v.rank) g.cuda_ordinal = 0;
    }
  }
  ASSERT_EQ(names(views), list{"gpus-per-task"});
  EXPECT_NE(find_problems(views, 0)[0].what.find("is '0' on rank 0 and '1' on rank 1"), std::string::npos);
  views = ranks_of(good_machine(), 2);
  views[0].binding.visible = "0,1,2,3,4,5,6,7";
  views[1].binding.visible = "7,6,5,4,3,2,1,0";
  EXPECT_EQ(names(views), list{}) << "another order hides nothing";
}

gpu_binding binding_of(const std::map<std::string, std::string>& variables) {
  return read_gpu_binding([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(gpu_binding, reads_what_slurm_did) {
  // As Slurm 22.05 sets them, for srun with --gpus-per-task=1, with --gpu-bind=none, and for a job of
  // --gpus-per-task=1.
  EXPECT_EQ(
      binding_of(
          {{"SLURM_STEP_ID", "0"}, {"SLURMD_TRES_BIND", "gpu:per_task:1"}, {"CUDA_VISIBLE_DEVICES", "0"}}),
      (gpu_binding{"SLURMD_TRES_BIND=gpu:per_task:1", "0"}));
  EXPECT_EQ(
      binding_of({{"SLURM_STEP_ID", "0"}, {"SLURMD_TRES_BIND", "gpu:none"}, {"SLURM_GPUS_PER_TASK", "1"}}),
      gpu_binding{});
  EXPECT_EQ(binding_of({{"SLURM_STEP_ID", "0"}, {"SLURM_GPUS_PER_TASK", "1"}}).per_task,
            "SLURM_GPUS_PER_TASK=1");
  EXPECT_EQ(binding_of({{"SLURM_STEP_ID", "0"}, {"SLURM_TRES_PER_TASK", "cpu=4,gres/gpu=1"}}).per_task,
            "SLURM_TRES_PER_TASK=cpu=4,gres/gpu=1");
  EXPECT_EQ(binding_of({{"SLURM_STEP_ID", "0"}, {"SLURM_TRES_PER_TASK", "cpu=4"}}), gpu_binding{});
  // mpirun inside the job, and no Slurm at all.
  EXPECT_EQ(binding_of({{"SLURM_GPUS_PER_TASK", "1"}, {"CUDA_VISIBLE_DEVICES", "0,1"}}),
            (gpu_binding{"", "0,1"}));
  EXPECT_EQ(binding_of({{"SLURM_STEP_ID", "0"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"SLURM_GPUS_PER_TASK", "1"}}),
            gpu_binding{});
  EXPECT_EQ(binding_of({}), gpu_binding{});
}

TEST(gpu_binding, travels_as_text) {
  for (const gpu_binding& one : {gpu_binding{}, gpu_binding{"A=1", std::nullopt}, gpu_binding{"A=1", ""},
                                 gpu_binding{"", "0,1"}, gpu_binding{"SLURM_GPU_BIND=single:1", "=x"}})
    EXPECT_EQ(gpu_binding_from_text(to_text(one)), one);
  EXPECT_EQ(gpu_binding_from_text(""), gpu_binding{});
  EXPECT_EQ(gpu_binding_from_text("A\n"), (gpu_binding{"A", std::nullopt}));
}

TEST(findings, hidden_gpus_of_one_process_name_the_variable) {
  auto m = good_machine();
  m.gpus[5].cuda_ordinal.reset();
  const auto found = find_problems(ranks_of(m, 1), 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "CUDA shows 7 of 8 GPUs on box.");
  EXPECT_NE(found[0].change.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
}

TEST(findings, a_small_mask_and_a_mask_on_the_wrong_node) {
  auto m = good_machine();
  m.allowed_cpus = {0, 1, 2};
  EXPECT_EQ(names(ranks_of(m, 1)), (list{"part-of-machine", "small-mask", "wrong-node", "oversubscribed"}));
  auto views = ranks_of(good_machine(), 1);
  views[0].seen.allowed_cpus = {4, 5, 6, 7};  // of package 1, while near takes GPU 0 of package 0
  EXPECT_EQ(names(views, 1), (list{"part-of-machine", "wrong-node"}));
}

TEST(findings, gpus_that_cuda_does_not_show_at_all) {
  auto m = good_machine();
  for (auto& g : m.gpus) g.cuda_ordinal.reset();
  m.cuda_problem = "CUDA_VISIBLE_DEVICES='9': '9' names no GPU here; CUDA hides it and every entry after it.";
  const auto found = find_problems(ranks_of(m, 1), 0);
  ASSERT_EQ(names(ranks_of(m, 1)), list{"hidden-gpus"});
  EXPECT_EQ(found[0].what, "CUDA shows none of 8 GPUs on box: " + m.cuda_problem);
  EXPECT_EQ(names(ranks_of(m, 2), 1), list{"hidden-gpus"});
}

TEST(findings, gpus_that_no_driver_shows) {
  auto m = good_machine();
  m.unseen_gpus = {"0000:ab:00.0"};
  ASSERT_EQ(names(ranks_of(m, 1)), list{"lost-gpus"});
  EXPECT_NE(find_problems(ranks_of(m, 1), 0)[0].what.find("(0000:ab:00.0)"), std::string::npos);
}

TEST(findings, a_quota_below_the_mask_and_a_part_of_the_machine) {
  auto m = host_machine(2, 16);
  m.quota = cpu_quota{64, "a"};
  EXPECT_EQ(names(ranks_of(m, 1), 1), list{}) << "as much as the mask";
  m.quota = cpu_quota{2, "a"};
  ASSERT_EQ(names(ranks_of(m, 1), 1), list{"cpu-quota"});
  EXPECT_NE(
      find_problems(ranks_of(m, 1), 1)[0].what.find("the time of 2 CPU(s), fewer than the 64 of its mask"),
      std::string::npos);
  m.quota.reset();
  m.allowed_cpus = {3, 4};
  ASSERT_EQ(names(ranks_of(m, 1), 1), list{"part-of-machine"});
  EXPECT_NE(find_problems(ranks_of(m, 1), 1)[0].what.find(
                "2 of the 64 hardware threads of box may be used (CPUs 3-4)"),
            std::string::npos);
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
            std::string::npos)
      << found[1];
}

TEST(differences, hosts_may_differ_in_names_but_not_in_shape) {
  auto views = ranks_of(good_machine(), 2);
  views[1].seen.host = "other";
  for (auto& g : views[1].seen.gpus) g.uuid += "-other";
  EXPECT_TRUE(differences(views).empty());
  views[1].seen.links.pop_back();
  ASSERT_EQ(differences(views).size(), 1U);
  EXPECT_NE(
      differences(views)[0].find("Host other is another machine than box: GPUs 0 and 7 are connected by"),
      std::string::npos)
      << differences(views)[0];
}

}}  // namespace mgsync::topology
