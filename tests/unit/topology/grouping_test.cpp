#include "topology/grouping.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "small_machines.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync::topology { namespace {

using test::cube_mesh_machine;
using test::host_machine;
using test::ranks_of;

using lists = std::vector<std::vector<int>>;

grouping_request host_request(int members, std::string placement = "near", int threads = 1,
                              int per_rank = 0) {
  return {device::host, members, per_rank, threads, std::move(placement), true};
}

grouping_request gpu_request(int members, std::string placement = "near", int per_rank = 0) {
  return {device::gpu, members, per_rank, 1, std::move(placement), true};
}

lists cpus_of(const grouping& g) {
  lists result;
  for (const auto& m : g.chosen.members) result.push_back(m.cpus);
  return result;
}

std::vector<int> gpus_of(const grouping& g) {
  std::vector<int> result;
  for (const auto& m : g.chosen.members) result.push_back(m.id);
  return result;
}

TEST(host_group, near_stays_in_one_package_on_cores_of_its_own) {
  const auto views = ranks_of(host_machine(2, 4), 1);
  EXPECT_EQ(cpus_of(make_group(views, host_request(4))), (lists{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(cpus_of(make_group(views, host_request(2, "near", 2))), (lists{{0, 1}, {2, 3}}));
}

TEST(host_group, near_takes_the_package_that_has_room) {
  auto m = host_machine(2, 4);
  m.allowed_cpus = {3, 4, 5, 6, 7};
  const auto views = ranks_of(m, 1);
  EXPECT_EQ(cpus_of(make_group(views, host_request(3))), (lists{{4}, {5}, {6}}));
  EXPECT_EQ(cpus_of(make_group(views, host_request(1))), (lists{{3}}));
}

TEST(host_group, nodes_that_share_a_kernel_share_its_cores) {
  auto views = ranks_of(host_machine(1, 4), 4);
  for (auto& v : views) v.seen.host = v.rank < 2 ? "a" : "b";
  EXPECT_EQ(cpus_of(make_group(views, host_request(4))), (lists{{0}, {1}, {0}, {1}})) << "two machines";
  for (auto& v : views) v.kernel = "one boot";
  const auto g = make_group(views, host_request(4));
  EXPECT_EQ(cpus_of(g), (lists{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(g.chosen.members[2].host, "b");
  EXPECT_TRUE(make_group(views, host_request(4, "near", 3)).chosen.oversubscribed);
}

TEST(host_group, far_alternates_and_spread_goes_in_blocks) {
  const auto views = ranks_of(host_machine(2, 4), 1);
  EXPECT_EQ(cpus_of(make_group(views, host_request(4, "far"))), (lists{{0}, {4}, {1}, {5}}));
  EXPECT_EQ(cpus_of(make_group(views, host_request(4, "spread"))), (lists{{0}, {1}, {4}, {5}}));
  EXPECT_EQ(cpus_of(make_group(views, host_request(2, "far", 2))), (lists{{0, 1}, {4, 5}}));
}

TEST(host_group, list_names_cores_thread_by_thread) {
  const auto views = ranks_of(host_machine(2, 4), 1);
  EXPECT_EQ(cpus_of(make_group(views, host_request(3, "list:7,0,3"))), (lists{{7}, {0}, {3}}));
  EXPECT_NE(mgsync::test::refused([&] {
              make_group(views, host_request(3, "list:7,0"));
            }).find("names 2 cores for 3 threads"),
            std::string::npos);
  EXPECT_NE(
      mgsync::test::refused([&] { make_group(views, host_request(1, "list:9")); }).find("accepted: 0-7"),
      std::string::npos);
}

TEST(host_group, hyperthreads_come_after_all_cores_and_oversubscription_last) {
  const auto views = ranks_of(host_machine(1, 2), 1);
  auto g = make_group(views, host_request(3));
  EXPECT_EQ(cpus_of(g), (lists{{0}, {1}, {2}}));
  EXPECT_FALSE(g.chosen.oversubscribed);
  EXPECT_EQ(g.notes.size(), 1U);
  g = make_group(views, host_request(4));
  EXPECT_FALSE(g.chosen.oversubscribed);
  g = make_group(views, host_request(5));
  EXPECT_TRUE(g.chosen.oversubscribed);
  EXPECT_EQ(g.chosen.members[4].cpus.size(), 1U);
}

TEST(host_group, members_on_every_cpu_are_a_note) {
  auto m = host_machine(1, 4);
  m.host = "n1";
  m.allowed_cpus = {0, 1, 2, 3};
  const auto noted = [&](int members) { return make_group(ranks_of(m, 1), host_request(members)).notes; };
  EXPECT_EQ(noted(3), std::vector<std::string>{});
  EXPECT_EQ(noted(4), std::vector<std::string>{"all 4 CPUs of n1 taken"});
  m.allowed_cpus = {2};
  EXPECT_EQ(noted(1), std::vector<std::string>{}) << "one thread waits for nobody";
}

TEST(host_group, without_places_is_oversubscribed_where_it_is_with_them) {
  const auto views = ranks_of(host_machine(1, 2), 1);
  for (int n = 1; n <= 6; ++n) {
    auto counted = host_request(n);
    counted.with_places = false;
    const auto g = make_group(views, counted);
    EXPECT_EQ(g.chosen.oversubscribed, make_group(views, host_request(n)).chosen.oversubscribed) << n;
    EXPECT_EQ(cpus_of(g), lists(static_cast<std::size_t>(n))) << n;
  }
  auto listed = host_request(3, "list:0,1");
  listed.with_places = false;
  EXPECT_FALSE(mgsync::test::refused([&] { make_group(views, listed); }).empty());
}

TEST(host_group, ranks_with_one_mask_do_not_collide) {
  const auto views = ranks_of(host_machine(2, 4), 8);
  const auto g = make_group(views, host_request(8));
  std::set<std::vector<int>> used;
  for (const auto& m : g.chosen.members) used.insert(m.cpus);
  EXPECT_EQ(used.size(), 8U);
  EXPECT_FALSE(g.chosen.oversubscribed);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(g.chosen.members[static_cast<std::size_t>(i)].rank, i);
}

TEST(host_group, oversubscription_is_counted_over_all_ranks_of_a_host) {
  auto m = host_machine(1, 2);
  m.allowed_cpus = {0, 1};
  EXPECT_FALSE(make_group(ranks_of(m, 2), host_request(2)).chosen.oversubscribed);
  EXPECT_TRUE(make_group(ranks_of(m, 4), host_request(4)).chosen.oversubscribed);
  auto views = ranks_of(m, 4);  // but another host has CPUs of its own
  views[2].seen.host = views[3].seen.host = "other";
  EXPECT_FALSE(make_group(views, host_request(4)).chosen.oversubscribed);
}

TEST(host_group, a_rank_that_may_use_less_gets_its_core_from_one_that_may_use_more) {
  auto views = ranks_of(host_machine(1, 3), 3);
  views[1].seen.allowed_cpus = {0};
  views[2].seen.allowed_cpus = {0, 1};
  const auto g = make_group(views, host_request(3));
  EXPECT_EQ(cpus_of(g), (lists{{2}, {0}, {1}}));
  EXPECT_TRUE(g.notes.empty());
}

TEST(host_group, members_per_rank_fill_ranks_in_order) {
  const auto views = ranks_of(host_machine(2, 4), 3);
  const auto g = make_group(views, host_request(5, "near", 1, 2));
  const std::vector<int> expected{0, 0, 1, 1, 2};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(g.chosen.members[i].rank, expected[i]);
    EXPECT_EQ(g.chosen.members[i].id, static_cast<int>(i));
  }
  EXPECT_NE(
      mgsync::test::refused([&] { make_group(views, host_request(7, "near", 1, 2)); }).find("accepted: 1-6"),
      std::string::npos);
  EXPECT_NE(mgsync::test::refused([&] { make_group(views, host_request(4)); }).find("accepted: 1-3"),
            std::string::npos);
}

TEST(host_group, no_pin_leaves_the_cpus_open_and_still_counts) {
  auto request = host_request(5);
  request.pin = false;
  const auto g = make_group(ranks_of(host_machine(1, 2), 1), request);
  for (const auto& m : g.chosen.members) EXPECT_TRUE(m.cpus.empty());
  EXPECT_TRUE(g.chosen.oversubscribed);
}

TEST(host_group, unknown_cores_are_a_note) {
  const auto g = make_group(ranks_of(machine{}, 1), host_request(2));
  EXPECT_EQ(g.notes.size(), 1U);
  EXPECT_TRUE(g.chosen.members[0].cpus.empty());
}

TEST(host_group, the_largest_is_the_cores_or_the_ranks) {
  EXPECT_EQ(largest_group(ranks_of(host_machine(2, 4), 1), device::host, 0), 8);
  EXPECT_EQ(largest_group(ranks_of(host_machine(2, 4), 3), device::host, 0), 3);
  EXPECT_EQ(largest_group(ranks_of(host_machine(2, 4), 3), device::host, 2), 6);
  EXPECT_EQ(largest_group(ranks_of(machine{}, 1), device::host, 0), 1);
}

TEST(gpu_group, cube_mesh_near_is_a_double_link_then_a_quad) {
  const auto views = ranks_of(cube_mesh_machine(), 1);
  EXPECT_EQ(gpus_of(make_group(views, gpu_request(2))), (std::vector{0, 3}));
  EXPECT_EQ(gpus_of(make_group(views, gpu_request(4))), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(gpus_of(make_group(views, gpu_request(8))), (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_NE(gpus_of(make_group(views, gpu_request(2, "far"))), (std::vector{0, 3}));
}

TEST(gpu_group, spread_takes_as_many_from_each_package) {
  const auto ids = gpus_of(make_group(ranks_of(cube_mesh_machine(), 1), gpu_request(4, "spread")));
  EXPECT_EQ(std::count_if(ids.begin(), ids.end(), [](int id) { return id < 4; }), 2);
}

TEST(gpu_group, list_keeps_the_order_and_takes_its_first_ones) {
  const auto views = ranks_of(cube_mesh_machine(), 1);
  EXPECT_EQ(gpus_of(make_group(views, gpu_request(3, "list:5,0,3"))), (std::vector{5, 0, 3}));
  EXPECT_EQ(gpus_of(make_group(views, gpu_request(2, "list:5,0,3"))), (std::vector{5, 0}));
  EXPECT_NE(mgsync::test::refused([&] { make_group(views, gpu_request(1, "list:8")); }).find("accepted: 0-7"),
            std::string::npos);
  EXPECT_NE(mgsync::test::refused([&] {
              make_group(views, gpu_request(2, "list:1"));
            }).find("1 GPUs for 2 members"),
            std::string::npos);
}

TEST(gpu_group, a_thread_per_gpu_on_a_core_near_it) {
  const auto g = make_group(ranks_of(cube_mesh_machine(), 1), gpu_request(8));
  EXPECT_EQ(cpus_of(g), (lists{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}));
  EXPECT_EQ(cpus_of(make_group(ranks_of(cube_mesh_machine(), 1), gpu_request(2, "list:7,6"))),
            (lists{{4}, {5}}));
}

TEST(gpu_group, ranks_take_their_gpus_in_order) {
  const auto g = make_group(ranks_of(cube_mesh_machine(), 8), gpu_request(4));
  for (int i = 0; i < 4; ++i) {
    const auto& m = g.chosen.members[static_cast<std::size_t>(i)];
    EXPECT_EQ(m.rank, i);
    EXPECT_EQ(m.id, i);
    EXPECT_EQ(m.gpu, i);
    EXPECT_EQ(m.uuid, "GPU-" + std::to_string(i));
  }
}

// Slurm's per-task binding: rank i sees its own GPU only, as ordinal 0.
std::vector<rank_view> one_gpu_each(int ranks) {
  auto views = ranks_of(cube_mesh_machine(), ranks);
  for (auto& v : views)
    for (auto& g : v.seen.gpus) {
      g.cuda_ordinal.reset();
      if (g.id == v.rank) g.cuda_ordinal = 0;
    }
  return views;
}

TEST(gpu_group, one_visible_gpu_is_ordinal_zero) {
  const auto g = make_group(one_gpu_each(4), gpu_request(4));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(g.chosen.members[static_cast<std::size_t>(i)].id, i);
    EXPECT_EQ(g.chosen.members[static_cast<std::size_t>(i)].gpu, 0);
  }
  const auto two = make_group(one_gpu_each(4), gpu_request(2));  // near: 0 and 3, and their owners take part
  EXPECT_EQ(gpus_of(two), (std::vector{0, 3}));
  EXPECT_EQ(two.chosen.members[1].rank, 3);
  EXPECT_EQ(two.chosen.members[1].gpu, 0);
}

TEST(gpu_group, isolated_ranks_that_list_one_gpu_each_are_told_apart_by_uuid) {
  auto views = ranks_of(cube_mesh_machine(), 2);
  for (auto& v : views) {
    auto g = v.seen.gpus[static_cast<std::size_t>(v.rank)];
    g.id = 0;
    g.cuda_ordinal = 0;
    v.seen.gpus = {g};
    v.seen.links.clear();
    v.seen.peers.clear();
  }
  const auto g = make_group(views, gpu_request(2));
  EXPECT_EQ(g.chosen.members[0].uuid, "GPU-0");
  EXPECT_EQ(g.chosen.members[1].uuid, "GPU-1");
  EXPECT_NE(g.chosen.members[0].id, g.chosen.members[1].id);
}

TEST(gpu_group, two_ranks_on_one_gpu_are_named_with_the_remedy) {
  auto views = one_gpu_each(2);
  views[1] = views[0];
  views[1].rank = 1;
  const auto text = mgsync::test::refused([&] { make_group(views, gpu_request(2)); });
  EXPECT_NE(text.find("ranks 0 and 1 on box would share GPU 0 (GPU-0)"), std::string::npos) << text;
  EXPECT_NE(text.find("--gpu-bind=none"), std::string::npos) << text;
}

TEST(gpu_group, nodes_of_one_machine_share_gpus_where_that_is_asked_for_and_there_are_too_few) {
  auto views = one_gpu_each(2);
  views[1] = views[0];
  views[1].rank = 1;
  views[1].seen.host = "other";
  for (auto& v : views) v.kernel = "one boot";
  const auto text = mgsync::test::refused([&] { make_group(views, gpu_request(2)); });
  EXPECT_NE(text.find("ranks 0 and 1, on box and other of one machine, would share GPU 0 (GPU-0)"),
            std::string::npos)
      << text;
  auto shared = gpu_request(2);
  shared.share_gpus = true;
  EXPECT_EQ(gpus_of(make_group(views, shared)), (std::vector{0, 0}));
  auto enough = ranks_of(cube_mesh_machine(), 2);
  for (auto& v : enough) v.kernel = "one boot";
  enough[1].seen.host = "other";
  EXPECT_EQ(gpus_of(make_group(enough, shared)).size(), 2U);
  EXPECT_NE(gpus_of(make_group(enough, shared))[0], gpus_of(make_group(enough, shared))[1]);
}

TEST(gpu_group, reordered_visible_devices_keep_their_ordinals) {
  auto m = cube_mesh_machine();
  for (auto& g : m.gpus) g.cuda_ordinal = 7 - g.id;
  const auto g = make_group(ranks_of(m, 1), gpu_request(8));
  EXPECT_EQ(gpus_of(g), (std::vector{7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(g.chosen.members[0].gpu, 0);
}

TEST(gpu_group, the_largest_counts_what_can_be_held_at_once) {
  EXPECT_EQ(largest_group(ranks_of(cube_mesh_machine(), 1), device::gpu, 0), 8);
  EXPECT_EQ(largest_group(ranks_of(cube_mesh_machine(), 4), device::gpu, 0), 4);
  EXPECT_EQ(largest_group(ranks_of(cube_mesh_machine(), 4), device::gpu, 2), 8);
  EXPECT_EQ(largest_group(ranks_of(cube_mesh_machine(), 12), device::gpu, 0), 8);
  EXPECT_EQ(largest_group(ranks_of(host_machine(1, 2), 1), device::gpu, 0), 0);
  EXPECT_EQ(largest_group(one_gpu_each(4), device::gpu, 0), 4);
}

TEST(gpu_group, more_than_there_are_is_refused) {
  EXPECT_NE(mgsync::test::refused([&] {
              make_group(ranks_of(cube_mesh_machine(), 1), gpu_request(9));
            }).find("sees 8 GPU(s)"),
            std::string::npos);
  EXPECT_NE(mgsync::test::refused([&] {
              make_group(ranks_of(host_machine(1, 2), 1), gpu_request(1));
            }).find("sees no GPU"),
            std::string::npos);
}

TEST(placement, unknown_words_name_the_known_ones) {
  for (const char* text : {"", "close", "list", "list:", "list:a", "list:1,1", "list:3-1", "near "})
    EXPECT_NE(mgsync::test::refused([&] {
                make_group(ranks_of(host_machine(1, 2), 1), host_request(1, text));
              }).find(std::string("--placement '") + text + "'"),
              std::string::npos)
        << text;
  EXPECT_EQ(mgsync::test::refused(
                [&] { make_group(ranks_of(host_machine(1, 2), 1), host_request(1, "list:0,0")); }),
            "--placement 'list:0,0' names a number twice; accepted: near, far, spread, list:ID,ID,...");
}

TEST(group, names_owners_and_hosts_once_and_in_order) {
  group g;
  EXPECT_TRUE(owners_of(g).empty());
  EXPECT_TRUE(hosts_of(g).empty());
  for (const auto& [rank, host] : {std::pair{5, "n2"}, {2, "n1"}, {5, "n2"}, {3, "n2"}}) {
    member m;
    m.rank = rank;
    m.host = host;
    g.members.push_back(m);
  }
  EXPECT_EQ(owners_of(g), (std::vector{2, 3, 5}));
  EXPECT_EQ(hosts_of(g), (std::vector<std::string>{"n1", "n2"}));
}

}}  // namespace mgsync::topology
