#include "src/studies/barriers/verdict.hpp"

#include <gtest/gtest.h>

namespace mgsync { namespace {

point four_members() {
  point p;
  p.subject = "multigrid";
  p.variant = "inbox";
  p.members = 4;
  p.group = {0, 1, 2, 3};
  p.set(axes::blocks_per_sm, 2.0);
  return p;
}

topology::group on_box() {
  topology::group g;
  for (int i = 0; i < 4; ++i) {
    topology::member m;
    m.id = i;
    m.rank = i / 2;
    m.host = "box";
    g.members.push_back(m);
  }
  return g;
}

TEST(verdict, names_backend_group_member_and_epoch_of_a_violation) {
  group_trial seen;
  seen.violations = 3;
  seen.first_violation = violation{7, {2, 1}, {0, 0}, 0x10, 0xf, "phase"};
  EXPECT_EQ(violation_sentence(four_members(), on_box(), seen, 100),
            "not a barrier: 3 violations in 100 rounds of multigrid:inbox on 4 host members {0,1,2,3}, shape "
            "2; first in "
            "round 7: member 2 block 1 (rank 1 on box) left before the phase of member 0 block 0 (rank 0 on "
            "box) was "
            "there (epoch 0x10, saw 0xf)");
}

TEST(verdict, names_who_was_not_waited_for_on_another_host) {
  group_trial seen;
  seen.violations = 1;
  seen.first_violation = violation{15, {2, 0}, {1, 0}, 0x10, 0xf, "arrival"};
  EXPECT_NE(violation_sentence(four_members(), on_box(), seen, 100)
                .find("; first in round 15: member 2 block 0 (rank 1 on box) left before member 1 block 0 "
                      "(rank 0 on box) "
                      "had arrived (epoch 0x10)"),
            std::string::npos);
}

TEST(verdict, tells_a_wrong_sum_from_an_early_exit) {
  group_trial seen;
  seen.violations = 1;
  seen.first_violation = violation{0, {1, 0}, {1, 0}, 12, 11, "sum"};
  EXPECT_NE(violation_sentence(four_members(), on_box(), seen, 100).find("got the sum 11, expected 12"),
            std::string::npos);
}

TEST(verdict, names_who_did_not_arrive) {
  group_trial seen;
  seen.missing = {{3, 0}};
  seen.stuck_round = 42;
  EXPECT_EQ(timeout_sentence(four_members(), on_box(), seen, std::chrono::seconds(5)),
            "stuck: multigrid:inbox on 4 host members {0,1,2,3}, shape 2 waited 5 s at epoch 42; did not "
            "arrive: member 3 "
            "block 0 (rank 1 on box)");
  seen.missing.clear();
  EXPECT_NE(
      timeout_sentence(four_members(), on_box(), seen, std::chrono::seconds(5)).find("none was released"),
      std::string::npos);
}

TEST(verdict, finds_nothing_to_check_with_one_worker) {
  auto p = four_members();
  EXPECT_FALSE(is_trivial(p));
  p.members = 1;
  EXPECT_FALSE(is_trivial(p));
  p.set(axes::blocks_per_sm, 1.0);
  EXPECT_TRUE(is_trivial(p));
  p.device = topology::device::gpu;
  EXPECT_FALSE(is_trivial(p));
}

TEST(verdict, inside_a_block_lanes_and_warps_are_workers) {
  auto p = four_members();
  p.members = 1;
  p.device = topology::device::gpu;
  p.set(axes::blocks, 1.0);
  p.set(axes::threads_per_block, 32.0);
  EXPECT_TRUE(is_trivial(p));
  p.subject = "block";
  p.variant = "syncthreads";
  EXPECT_TRUE(is_trivial(p)) << "one warp";
  p.set(axes::threads_per_block, 64.0);
  EXPECT_FALSE(is_trivial(p));
  p.subject = "warp";
  p.variant = "syncwarp";
  EXPECT_FALSE(is_trivial(p));
}

TEST(verdict, knows_between_whom_a_check_can_compare) {
  auto p = four_members();
  p.set(axes::blocks_per_sm, 1.0);
  auto group = on_box();
  auto reach = reach_of_check(p, group);
  EXPECT_TRUE(reach.within_hosts && !reach.across_hosts && reach.note.empty());
  group.members[3].host = "other";
  reach = reach_of_check(p, group);
  EXPECT_TRUE(reach.within_hosts && reach.across_hosts && reach.note.empty());
  for (int i = 0; i < 4; ++i) group.members[static_cast<std::size_t>(i)].host = std::to_string(i);
  reach = reach_of_check(p, group);
  EXPECT_TRUE(!reach.within_hosts && reach.across_hosts && reach.note.empty());
  p.set(axes::blocks_per_sm, 2.0);
  EXPECT_TRUE(reach_of_check(p, group).within_hosts);
}

TEST(verdict, says_what_no_check_compares_between_gpus_of_several_hosts) {
  auto p = four_members();
  p.device = topology::device::gpu;
  p.set(axes::blocks, 132.0);
  auto group = on_box();
  EXPECT_EQ(reach_of_check(p, group).note, "");
  EXPECT_EQ(reach_of_check(p, group).scope, verdict_scope::all);
  for (int i = 0; i < 4; ++i) group.members[static_cast<std::size_t>(i)].host = std::to_string(i);
  auto reach = reach_of_check(p, group);
  EXPECT_TRUE(reach.within_hosts && !reach.across_hosts);
  EXPECT_EQ(reach.note, "checked within each host, not between hosts");
  EXPECT_EQ(reach.scope, verdict_scope::within_hosts);
  p.set(axes::blocks, 1.0);
  reach = reach_of_check(p, group);
  EXPECT_FALSE(reach.within_hosts || reach.across_hosts);
  EXPECT_EQ(reach.note.substr(0, 9), "unchecked");
}

TEST(verdict, controls_with_a_member_that_all_can_notice) {
  auto p = four_members();
  p.set(axes::blocks_per_sm, 1.0);
  auto group = on_box();
  for (std::uint64_t seed = 0; seed < 8; ++seed) EXPECT_EQ(control_member(p, group, seed), seed % 4);
  group.members[3].host = "other";
  group.members[3].rank = 2;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(control_member(p, group, seed), seed % 2 == 0 ? 0u : 2u);
  for (int i = 0; i < 4; ++i) group.members[static_cast<std::size_t>(i)].host = std::to_string(i / 2);
  group.members[3].rank = 1;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(control_member(p, group, seed), seed % 2 == 0 ? 0u : 2u);
}

TEST(verdict, calls_a_member_last_only_when_chance_does_not_explain_it) {
  EXPECT_TRUE(is_systematic(90, 100, 2));
  EXPECT_TRUE(is_systematic(80, 100, 4));
  EXPECT_FALSE(is_systematic(9, 11, 2));    // of two members one is last in half of the runs
  EXPECT_FALSE(is_systematic(60, 100, 4));  // more than its share, but not mostly
  EXPECT_FALSE(is_systematic(9, 9, 4));
  EXPECT_FALSE(is_systematic(100, 100, 1));
}

}}  // namespace mgsync
