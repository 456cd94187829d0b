#include "src/results/comparison/node_check.hpp"

#include <gtest/gtest.h>

#include "made_up_results.hpp"

namespace mgsync { namespace {

using test::a_point;
using test::failed;
using test::measured;
using test::waived;

// A reference of five barriers over 2 and over 4 members.
constexpr const char* variants[] = {"auto", "hub", "inbox", "central", "dissemination"};

comparison node_of(std::vector<result> now) {
  json_document base, node;
  for (const int members : {2, 4})
    for (const auto* variant : variants)
      base.results.push_back(measured(a_point("multigrid", variant, members), 2));
  node.results = std::move(now);
  return compare(std::vector{base}, std::vector{node});
}

result at(const char* variant, int members, double latency_us = 2, int batches = 10) {
  return measured(a_point("multigrid", variant, members), latency_us, 7, batches);
}

TEST(node_check, what_the_node_did_not_measure_is_counted_and_shuts_nothing) {
  const auto found = judge_node(
      node_of({at("auto", 2), at("hub", 2), at("auto", 4), measured(a_point("mpi", "default", 4), 9)}), 0.1);
  EXPECT_EQ(found.what, node_state::normal);
  EXPECT_EQ(found.sentence, "This node is normal: of 3 points that it and the reference both have, 3 are "
                            "shown to be within 10% of it, and none is shown to be worse; "
                            "7 points of the reference were not measured here; 1 point has no reference.");
  EXPECT_TRUE(found.violations.empty());
}

TEST(node_check, what_the_host_drives_is_worse_by_chance) {
  const auto driven = [](double latency_us) {
    auto one = at("auto", 4, latency_us);
    one.point.device = topology::device::gpu;
    one.facts = known_facts{{.origin = fact::origin::vendor,
                             .driver = fact::driver::host,
                             .scope = fact::scope::grid,
                             .extent = fact::extent::everything,
                             .order = fact::order::both}};
    return one;
  };
  const auto judged = [&](double latency_us) {
    json_document base, node;
    for (auto* document : {&base, &node})
      document->results = {at("hub", 4), at("inbox", 4), at("central", 4)};
    base.results.push_back(driven(2));
    node.results.push_back(driven(latency_us));
    return judge_node(compare(std::vector{base}, std::vector{node}), 0.1).sentence;
  };
  EXPECT_EQ(judged(2.8),
            "This node is normal: of 4 points that it and the reference both have, 3 are shown to be "
            "within 10% of it, and none else is shown to be worse; 1 point driven by the host is "
            "worse by less than runs of one build may differ by (60 %).");
  EXPECT_TRUE(judged(3.4).starts_with("This node is not normal: ")) << judged(3.4);
}

TEST(node_check, what_is_worse_or_lost_is_named) {
  const auto found = judge_node(node_of({at("auto", 2), at("hub", 2), at("inbox", 2), at("auto", 4, 2.6),
                                         failed(a_point("multigrid", "hub", 4), "violated"),
                                         waived(a_point("multigrid", "inbox", 4), "no peer access")}),
                                0.1);
  EXPECT_EQ(found.what, node_state::not_normal);
  EXPECT_TRUE(
      found.sentence.starts_with("This node is not normal: of 6 points that it and the reference both have, "
                                 "1 is, or seems, worse by more than 10%, and 2 have no number here"))
      << found.sentence;
  ASSERT_EQ(found.violations.size(), 3U);
  EXPECT_NE(found.violations[0].find("multigrid:auto on 4"), std::string::npos);
  EXPECT_NE(found.violations[2].find("no peer access"), std::string::npos);
  auto broken = at("auto", 4, 1);
  broken.verdict.passed = false;
  const auto fast = judge_node(node_of({at("auto", 2), at("hub", 2), at("inbox", 4), broken}), 0.1);
  EXPECT_EQ(fast.what, node_state::not_normal);
  EXPECT_NE(fast.sentence.find("0 are, or seem, worse by more than 10%, 1 did not pass the check, and 0 have "
                               "no number here; 6 points of"),
            std::string::npos)
      << fast.sentence;
  EXPECT_EQ(judge_node(node_of({at("auto", 2), at("hub", 2), at("auto", 4, 2.6)}), 0.5).what,
            node_state::normal)
      << "within the limit that was asked for";
}

TEST(node_check, too_little_in_common_makes_no_node_normal) {
  // Nothing; two points; three that leave out half of the members; three of which one has too few batches to
  // tell.
  EXPECT_EQ(judge_node(node_of({}), 0.1).what, node_state::cannot_be_told);
  EXPECT_EQ(judge_node(node_of({at("auto", 2), at("auto", 4)}), 0.1).what, node_state::cannot_be_told);
  const auto half = judge_node(node_of({at("auto", 2), at("hub", 2), at("inbox", 2)}), 0.1);
  EXPECT_EQ(half.what, node_state::cannot_be_told);
  EXPECT_NE(half.sentence.find("3 are shown to be within 10% of it, and it takes 3, of which one is over 4 "
                               "members; 7 points of the reference"),
            std::string::npos)
      << half.sentence;
  const auto vague = judge_node(node_of({at("auto", 2), at("hub", 2), at("auto", 4, 2, 1)}), 0.1);
  EXPECT_EQ(vague.what, node_state::cannot_be_told);
  EXPECT_NE(vague.sentence.find("1 is too uncertain to tell"), std::string::npos) << vague.sentence;
  EXPECT_TRUE(
      vague.sentence.ends_with("Measure again while nothing else runs here, and longer (--max-time)."))
      << vague.sentence;
  EXPECT_TRUE(half.sentence.ends_with("`mgsync --json FILE` without other options measures enough points."))
      << half.sentence;
  EXPECT_EQ(judge_node(node_of({at("auto", 2), at("hub", 2), at("auto", 4)}), 0.01).what,
            node_state::cannot_be_told)
      << "nothing is shown within less than the noise";
}

TEST(node_check, what_means_little_shows_no_node_worse_and_is_no_reference) {
  const std::vector<doubt> busy{{std::string(doubt_kinds::load), 9, "9 runnable threads for 2"}};
  const auto on_busy = [&](result r) {
    r.doubts = busy;
    return r;
  };
  const auto slow =
      judge_node(node_of({at("auto", 2), at("hub", 2), at("auto", 4), on_busy(at("hub", 4, 9))}), 0.1);
  EXPECT_EQ(slow.what, node_state::normal) << slow.sentence;
  EXPECT_NE(slow.sentence.find("; 1 is not judged, as it means little; 6 points of the"), std::string::npos)
      << slow.sentence;
  const auto within = judge_node(node_of({at("auto", 2), at("hub", 2), on_busy(at("auto", 4))}), 0.1);
  EXPECT_EQ(within.what, node_state::normal) << "nothing gets faster by that: " << within.sentence;
  auto wrong = on_busy(at("auto", 4, 9));
  wrong.verdict.passed = false;
  EXPECT_EQ(judge_node(node_of({wrong}), 0.1).what, node_state::not_normal);
  auto compared = node_of({at("auto", 2), at("hub", 2), at("auto", 4)});
  for (auto& one : compared.points) one.base_doubts = busy;
  const auto by_busy = judge_node(compared, 0.1);
  EXPECT_EQ(by_busy.what, node_state::cannot_be_told) << by_busy.sentence;
  EXPECT_NE(by_busy.sentence.find("3 are not judged"), std::string::npos) << by_busy.sentence;
  for (auto& one : compared.points)
    one.base_doubts = {{std::string(doubt_kinds::clocks), 1, "an SM clock of 300 to 900 MHz"}};
  EXPECT_EQ(judge_node(compared, 0.1).what, node_state::normal);
}

TEST(node_check, results_that_were_cut_short_make_no_node_normal) {
  const std::vector<result> good{at("auto", 2), at("hub", 2), at("auto", 4)};
  const auto found = judge_node(node_of(good), 0.1, "here.jsonl is damaged");
  EXPECT_EQ(found.what, node_state::cannot_be_told);
  EXPECT_NE(found.sentence.find("here.jsonl is damaged, so that something may be missing"), std::string::npos)
      << found.sentence;
  EXPECT_EQ(judge_node(node_of({at("auto", 4, 4)}), 0.1, "here.jsonl is damaged").what,
            node_state::not_normal)
      << "what is worse is worse all the same";
}

}}  // namespace mgsync
