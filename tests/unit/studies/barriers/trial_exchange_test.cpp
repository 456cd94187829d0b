#include "src/studies/barriers/trial_exchange.hpp"

#include <gtest/gtest.h>

namespace mgsync { namespace {

using namespace std::chrono_literals;

TEST(trial_exchange, takes_the_longest_of_all_members_and_adds_up_what_was_seen) {
  trial first;
  first.elapsed = {3us, 5us};
  first.observations = 10;
  trial second;
  second.elapsed = {9us};
  second.observations = 7;
  second.violations = 2;
  second.far_violations = 1;
  second.first_violation = violation{4, {2, 0}, {0, 1}, 17, 16, "phase"};
  const auto all = merge_trials(
      {pack_trial(first, {0, 1}, false), pack_trial({}, {}, false), pack_trial(second, {2}, true, 4.5)});
  EXPECT_DOUBLE_EQ(all.longest_us, 9);
  EXPECT_EQ(all.slowest, 2u);
  EXPECT_EQ(all.observations, 17u);
  EXPECT_EQ(all.violations, 2u);
  EXPECT_EQ(all.far_violations, 1u);
  EXPECT_TRUE(all.interrupted);
  EXPECT_DOUBLE_EQ(all.stopped_s, 4.5);
  ASSERT_TRUE(all.first_violation.has_value());
  EXPECT_EQ(all.first_violation->round, 4u);
  EXPECT_EQ(all.first_violation->reader.member, 2u);
  EXPECT_EQ(all.first_violation->offender.block, 1u);
  EXPECT_EQ(all.first_violation->what, "phase");
}

TEST(trial_exchange, keeps_the_earliest_violation_the_worst_outcome_and_who_is_behind) {
  trial early;
  early.first_violation = violation{2, {0, 0}, {1, 0}, 1, 0, "payload"};
  trial late;
  late.first_violation = violation{9, {1, 0}, {0, 0}, 1, 0, "phase"};
  late.outcome = outcome::timed_out;
  late.arrivals = {{{0, 0}, 12}, {{3, 1}, 11}};
  early.arrivals = {{{0, 0}, 10}, {{1, 0}, 12}, {{3, 1}, 9}};
  const auto all = merge_trials({pack_trial(late, {1}, false), pack_trial(early, {0}, false)});
  EXPECT_EQ(all.first_violation->what, "payload");
  EXPECT_EQ(all.outcome, outcome::timed_out);
  ASSERT_EQ(all.missing.size(), 1u);
  EXPECT_EQ(all.missing[0].member, 3u);
  EXPECT_EQ(all.stuck_round, 12u);
}

TEST(trial_exchange, keeps_what_others_took_from_the_member_that_lost_most_where_that_is_known) {
  trial first, second;
  first.taken = 0.02;
  second.taken = 0.5;
  EXPECT_EQ(
      merge_trials({pack_trial(first, {0}, false), pack_trial({}, {}, false), pack_trial(second, {1}, false)})
          .taken,
      0.5);
  EXPECT_FALSE(merge_trials({pack_trial({}, {}, false)}).taken);
}

TEST(trial_exchange, names_nobody_slowest_when_several_took_as_long) {
  trial both;
  both.elapsed = {5us, 5us};
  EXPECT_FALSE(merge_trials({pack_trial(both, {0, 1}, false)}).slowest.has_value());
}

TEST(trial_exchange, keeps_what_the_load_reached_by_member_and_the_first_that_was_misplaced) {
  trial first, second;
  first.elapsed = {3us, 5us};
  first.loads = {{367.5, ""}, {0, "there"}};
  second.elapsed = {9us};
  second.loads = {{12, "elsewhere"}};
  const auto all = merge_trials({pack_trial(first, {0, 2}, false), pack_trial(second, {1}, false)});
  EXPECT_EQ(all.load_gbps, (std::vector<std::pair<unsigned, double>>{{0, 367.5}, {2, 0}, {1, 12}}));
  EXPECT_EQ(all.misplaced_load, "there");
  EXPECT_TRUE(merge_trials({pack_trial({}, {}, false)}).load_gbps.empty());
}

TEST(trial_exchange, tells_where_members_were_and_where_not_as_asked) {
  trial first, second;
  first.elapsed = {3us, 5us};
  first.ran_on = {{3}, {7, 4}};
  second.elapsed = {9us};
  second.ran_on = {{6}};
  const auto all = merge_trials({pack_trial(first, {0, 2}, false), pack_trial(second, {1}, false)});
  ASSERT_EQ(all.ran.size(), 3u);
  EXPECT_EQ(all.ran.at(1).rank, 1);
  topology::group group;
  for (const int id : {0, 1, 2}) {
    topology::member m;
    m.id = id;
    m.host = "box";
    m.rank = id == 1 ? 1 : 0;
    m.cpus = id == 0 ? std::vector{3} : id == 1 ? std::vector{5} : std::vector{4, 7};
    group.members.push_back(m);
  }
  EXPECT_EQ(where_members_ran(group, all.ran),
            "0: rank 0 on box, CPU 3; 1: rank 1 on box, CPU 6 (asked for: 5); 2: rank 0 on box, CPU 4+7");
  group.members[1].cpus.clear();
  group.members[1].rank = 0;
  EXPECT_EQ(where_members_ran(group, {{1, all.ran.at(1)}}),
            "1: rank 1 on box, not pinned, CPU 6 (asked for: rank 0)");
  EXPECT_TRUE(merge_trials({pack_trial({}, {}, false)}).ran.empty());
}

}}  // namespace mgsync
