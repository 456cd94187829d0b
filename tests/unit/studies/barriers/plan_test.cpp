#include "src/studies/barriers/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/errors.hpp"
#include "src/harness/campaign.hpp"
#include "src/harness/plan_text.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "tests/unit/barriers/made_up_variant.hpp"

namespace mgsync { namespace {

constexpr barrier_variant two_variants[] = {test::made_up_variant("one"), test::made_up_variant("two")};

support always(const topology::machine&, const topology::group&, const configuration&) {
  return support::yes();
}
support never(const topology::machine&, const topology::group&, const configuration&) {
  return support::no("not on this planet");
}

const backend can{.name = "can", .summary = "runs", .variants = two_variants, .can_run = always};
const backend cannot{.name = "cannot", .summary = "does not", .variants = two_variants, .can_run = never};

std::vector<topology::rank_view> one_rank(int cores) {
  topology::machine m;
  m.host = "box";
  m.packages = {{0, "made up"}};
  m.numa_nodes = {{0, 0}};
  for (int i = 0; i < cores; ++i) {
    topology::core c;
    c.id = i;
    c.cpus = {i};
    m.cores.push_back(c);
    m.allowed_cpus.push_back(i);
  }
  return {{0, 0, m}};
}

std::string text_of(const plan& planned, detail wanted = detail::grouped) {
  return format_plan(barriers::points_of(planned, {}, nullptr), wanted);
}

sweep_request request() {
  sweep_request r;
  r.backends = {{&can, &two_variants[0]}, {&cannot, &two_variants[0]}};
  return r;
}

TEST(plan, has_a_cell_for_every_group_and_shape_and_asks_every_backend) {
  auto r = request();
  r.members = {2, 4};
  r.shapes = {{1u, std::nullopt, 32}, {2u, std::nullopt, 32}};
  const auto planned = make_plan(r, one_rank(8));
  ASSERT_EQ(planned.cells.size(), 4u);
  const auto& last = planned.cells.back();
  EXPECT_EQ(last.group.members.size(), 4u);
  EXPECT_EQ(last.points[0].point.number(axes::blocks_per_sm), 2);
  EXPECT_EQ(last.points[0].point.find(axes::threads_per_block), nullptr);
  EXPECT_EQ(last.points[0].point.word(axes::load), "idle");
  EXPECT_EQ(last.points[0].point.axes.size(), 2u) << "what is not asked for is no axis";
  EXPECT_EQ(last.points[0].waived, "");
  EXPECT_EQ(last.points[1].waived, "not on this planet");
  EXPECT_EQ(last.group.members[3].cpus.size(), 2u);
}

TEST(plan, counts_host_shapes_that_differ_in_ignored_threads_once) {
  auto r = request();
  r.members = {2};
  r.shapes = {{1u, std::nullopt, 32}, {1u, std::nullopt, 1024}, {std::nullopt, 1u, 32}};
  EXPECT_EQ(make_plan(r, one_rank(4)).cells.size(), 1u);
}

TEST(plan, counts_cells_that_are_not_described_as_those_that_are) {
  auto r = request();
  for (int n = 1; n <= 12; ++n) r.members.push_back(n);
  const auto described = make_plan(r, one_rank(8));
  r.members_described = 5;
  const auto counted = make_plan(r, one_rank(8));
  ASSERT_EQ(counted.cells.size(), described.cells.size());
  EXPECT_EQ(counted.members_described, 1u + 2 + 3);  // the cell that passes the bound is whole
  for (std::size_t i = 0; i < counted.cells.size(); ++i) {
    const auto &some = counted.cells[i], &all = described.cells[i];
    EXPECT_EQ(some.points[0].waived, all.points[0].waived) << i;
    EXPECT_EQ(some.points[0].point.members, all.points[0].point.members) << i;
    EXPECT_EQ(some.group.members.size(), i < 3 ? all.group.members.size() : 0u) << i;
    EXPECT_EQ(some.points[0].point.group.size(), some.group.members.size()) << i;
  }
}

TEST(plan, waives_more_threads_than_the_machine_has_unless_told) {
  auto r = request();
  r.members = {3};
  EXPECT_NE(make_plan(r, one_rank(2)).cells[0].points[0].waived.find("--oversubscribe"), std::string::npos);
  EXPECT_EQ(make_plan(r, one_rank(2)).cells[0].points[1].waived, "not on this planet")
      << "nor would fewer threads help";
  r.oversubscribe = true;
  const auto planned = make_plan(r, one_rank(2));
  EXPECT_EQ(planned.cells[0].points[0].waived, "");
  EXPECT_EQ(planned.cells[0].points[0].point.word(axes::oversubscribed), "yes");
}

TEST(plan, measures_each_node_by_itself_when_told) {
  auto views = one_rank(2);
  for (int rank = 1; rank < 4; ++rank) {
    views.push_back(views.front());
    views.back().rank = rank;
    views.back().seen.host = rank < 2 ? views.front().seen.host : "elsewhere";
  }
  auto r = request();
  r.members = {2};
  ASSERT_EQ(make_plan(r, views).cells.size(), 1u);
  r.per_node = true;
  const auto planned = make_plan(r, views);
  ASSERT_EQ(planned.cells.size(), 2u);
  EXPECT_EQ(planned.cells[0].points[0].point.node, views.front().seen.host);
  EXPECT_EQ(planned.cells[1].points[0].point.node, "elsewhere");
  EXPECT_EQ(planned.cells[1].group.members[0].rank, 2);
  EXPECT_EQ(planned.cells[1].group.members[1].rank, 3);
}

std::vector<topology::rank_view> one_rank_with_gpus(int gpus, const std::string& host) {
  auto views = one_rank(8);
  auto& m = views.front().seen;
  m.host = host;
  for (int i = 0; i < gpus; ++i) {
    topology::gpu g;
    g.id = i;
    g.cuda_ordinal = i;
    g.uuid = host + std::to_string(i);
    m.gpus.push_back(g);
  }
  return views;
}

std::vector<int> members_of(const plan& planned, bool waived) {
  std::vector<int> counts;
  for (const auto& c : planned.cells)
    if (c.points.front().waived.empty() != waived) counts.push_back(c.points.front().point.members);
  return counts;
}

TEST(plan, waives_the_counts_that_the_gpus_do_not_reach) {
  auto r = request();
  r.device = topology::device::gpu;
  r.members = {2, 4, 5, 8};
  const auto planned = make_plan(r, one_rank_with_gpus(4, "box"));
  EXPECT_EQ(members_of(planned, false), (std::vector<int>{2, 4}));
  EXPECT_EQ(members_of(planned, true), (std::vector<int>{5, 8}));
  const auto& p = planned.cells.back().points[0];
  EXPECT_NE(p.waived.find("sees 4 GPU(s), fewer than its members"), std::string::npos) << p.waived;
  EXPECT_TRUE(p.point.group.empty());
  EXPECT_NE(text_of(planned, detail::every).find("8 GPUs on box"), std::string::npos)
      << text_of(planned, detail::every);
  EXPECT_NE(text_of(planned).find("fewer than its members; accepted"), std::string::npos) << text_of(planned);
  r.members = {5, 8};
  EXPECT_THROW(make_plan(r, one_rank_with_gpus(4, "box")), usage_error) << "nothing of it can be";
}

TEST(plan, waives_what_one_node_lacks) {
  auto views = one_rank_with_gpus(4, "whole");
  views.push_back(one_rank_with_gpus(2, "half").front());
  views.push_back(one_rank_with_gpus(0, "none").front());
  for (int rank = 0; rank < 3; ++rank) views[static_cast<std::size_t>(rank)].rank = rank;
  auto r = request();
  r.device = topology::device::gpu;
  r.per_node = true;
  for (const auto& asked : {std::vector<int>{}, std::vector<int>{1, 2, 3, 4}}) {
    r.members = asked;
    const auto planned = make_plan(r, views);
    ASSERT_EQ(planned.cells.size(), 12u);
    EXPECT_EQ(members_of(planned, false), (std::vector<int>{1, 2, 3, 4, 1, 2}));
    EXPECT_EQ(members_of(planned, true), (std::vector<int>{3, 4, 1, 2, 3, 4}));
    EXPECT_EQ(planned.cells[6].points[0].point.node, "half");
    EXPECT_EQ(planned.cells[11].points[0].point.node, "none");
  }
  // Ranks likewise: three on one node, two on the other.
  std::vector<topology::rank_view> ranks;
  for (int rank = 0; rank < 5; ++rank) {
    ranks.push_back(one_rank(8).front());
    ranks.back().rank = rank;
    if (rank > 2) ranks.back().seen.host = "elsewhere";
  }
  r.device = topology::device::host;
  r.members = {2, 3};
  const auto planned = make_plan(r, ranks);
  EXPECT_EQ(members_of(planned, false), (std::vector<int>{2, 3, 2}));
  EXPECT_NE(planned.cells[3].points[0].waived.find("more members than 2 ranks with 1 each hold"),
            std::string::npos);
}

TEST(plan, refuses_a_placement_that_is_none_and_waives_a_list_that_is_too_short) {
  auto r = request();
  r.device = topology::device::gpu;
  r.members = {2, 3};
  r.placements = {"list:1,2"};
  const auto planned = make_plan(r, one_rank_with_gpus(4, "box"));
  EXPECT_EQ(members_of(planned, false), std::vector<int>{2});
  EXPECT_NE(planned.cells[1].points[0].waived.find("names 2 GPUs for 3 members"), std::string::npos);
  r.placements = {"near", "nearest"};
  EXPECT_THROW(make_plan(r, one_rank_with_gpus(4, "box")), usage_error);
}

// 2 of 64 processors' time: spinning threads would be stopped again and again, and the figures would be the
// scheduler's.
TEST(plan, takes_no_more_host_members_than_a_quota_gives_time_to) {
  auto views = one_rank(8);
  views.front().seen.quota = topology::cpu_quota{2, "pod"};
  const auto planned = make_plan(request(), views);
  EXPECT_EQ(members_of(planned, false), std::vector<int>{2});
  const auto notes = machine_notes({}, views);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("A cgroup quota leaves box the time of 2 CPU(s), fewer than the 8"),
            std::string::npos);
  auto r = request();
  r.members = {2, 4};
  EXPECT_NE(make_plan(r, views).cells[1].points[0].waived.find("a cgroup quota"), std::string::npos);
  r.oversubscribe = true;
  const auto all_the_same = make_plan(r, views);
  EXPECT_EQ(all_the_same.cells[1].points[0].waived, "");
  EXPECT_EQ(all_the_same.cells[1].points[0].point.word(axes::oversubscribed), "yes");
  // Ranks of one container share its quota, those of two containers do not.
  std::vector<topology::rank_view> ranks(2, views.front());
  ranks[1].rank = 1;
  r.oversubscribe = false;
  r.members = {2};
  for (auto& v : ranks) v.seen.quota = topology::cpu_quota{1, "pod"};
  EXPECT_NE(make_plan(r, ranks).cells[0].points[0].waived, "");
  ranks[1].seen.quota->cgroup = "another pod";
  EXPECT_EQ(make_plan(r, ranks).cells[0].points[0].waived, "");
}

TEST(plan, says_what_hides_or_takes_gpus) {
  auto views = one_rank_with_gpus(4, "box");
  views.front().seen.gpus[3].cuda_ordinal.reset();
  views.front().seen.unseen_gpus = {"0000:ab:00.0"};
  campaign_request r;
  r.device = topology::device::gpu;
  const auto notes = machine_notes(r, views);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("CUDA shows 3 of 4 GPUs on box"), std::string::npos);
  EXPECT_NE(notes[1].find("no driver shows here (0000:ab:00.0)"), std::string::npos);
  r.device = topology::device::host;
  r.not_gpus = "CUDA shows none of them";
  EXPECT_EQ(machine_notes(r, views)[0],
            "There are GPUs here, and host members are measured: CUDA shows none of them.");
}

TEST(plan, works_before_the_barrier_in_a_cell_of_its_own) {
  auto r = request();
  r.members = {2};
  r.work = {0, 20};
  const auto planned = make_plan(r, one_rank(2));
  ASSERT_EQ(planned.cells.size(), 2u);
  EXPECT_EQ(planned.cells[0].points[0].point.find(axes::work), nullptr);
  EXPECT_EQ(planned.cells[1].points[0].point.number(axes::work), 20);
}

TEST(plan, a_late_member_makes_a_cell_of_its_own_too) {
  auto r = request();
  r.members = {2};
  r.work = {0, 20};
  r.late = {0, 5000};
  const auto planned = make_plan(r, one_rank(2));
  ASSERT_EQ(planned.cells.size(), 4u);
  EXPECT_EQ(planned.cells[1].work_units, 0u);
  EXPECT_EQ(planned.cells[1].late_units, 5000u);
  EXPECT_EQ(planned.cells[2].work_units, 20u);
  EXPECT_EQ(planned.cells[2].late_units, 0u);
  EXPECT_NE(text_of(planned).find("late 5000 us"), std::string::npos);
}

TEST(plan, counts_members_by_powers_of_two_and_all_of_them) {
  EXPECT_EQ(default_members(topology::device::host, 1), (std::vector<int>{1}));
  EXPECT_EQ(default_members(topology::device::host, 2), (std::vector<int>{2}));
  EXPECT_EQ(default_members(topology::device::host, 12), (std::vector<int>{2, 4, 8, 12}));
  EXPECT_EQ(default_members(topology::device::gpu, 3), (std::vector<int>{1, 2, 3}));
}

TEST(plan, prints_what_would_be_measured_and_where) {
  auto r = request();
  r.members = {2};
  for (const auto wanted : {detail::grouped, detail::every}) {
    const auto text = text_of(make_plan(r, one_rank(2)), wanted);
    EXPECT_NE(text.find("CPU 1"), std::string::npos);
    EXPECT_NE(text.find(wanted == detail::every ? "waived: not on this planet"
                                                : "waived  cannot:one  not on this planet"),
              std::string::npos)
        << text;
  }
}

// `--members 1-4096`: what is kept and printed grows with what can be measured, not with what was asked for.
TEST(plan, of_many_members_that_cannot_be_is_small) {
  auto r = request();
  for (int n = 1; n <= 2000; ++n) r.members.push_back(n);
  const auto planned = make_plan(r, one_rank(8));
  ASSERT_EQ(planned.cells.size(), 2000u) << "every point is there";
  std::size_t kept = 0;
  for (const auto& c : planned.cells) {
    EXPECT_EQ(c.group.members.size(),
              c.points.front().waived.empty() ? static_cast<std::size_t>(c.points.front().point.members) : 0);
    kept += c.group.members.capacity();
    for (const auto& p : c.points) kept += p.point.group.size();
  }
  EXPECT_LE(kept, 3u * (8 * 9 / 2));
  const auto text = text_of(planned);
  EXPECT_LE(std::ranges::count(text, '\n'), 100);
  EXPECT_NE(text.find("1992  more host threads than hardware threads here"), std::string::npos) << text;
  EXPECT_NE(text.find("2000  not on this planet: cannot:one"), std::string::npos) << text;
  EXPECT_EQ(text.find("(--verbose lists each)\n"), text.rfind("(--verbose lists each)\n")) << text;
  // Of a large sweep that can be measured: a page, and how many more.
  r.oversubscribe = true;
  r.members.resize(100);
  const auto large = text_of(make_plan(r, one_rank(8)));
  EXPECT_LE(std::ranges::count(large, '\n'), 210);
  EXPECT_NE(large.find("more points (--verbose lists each)"), std::string::npos);
}

}}  // namespace mgsync
