#include "src/harness/plan.hpp"

#include <gtest/gtest.h>

#include "src/base/errors.hpp"

namespace mgsync {
namespace {

constexpr std::string_view two_variants[] = {"one", "two"};

support always(const topology::machine&, const topology::group&, const configuration&) { return support::yes(); }
support never(const topology::machine&, const topology::group&, const configuration&) {
  return support::no("not on this planet");
}
creation nothing(const topology::group&, const configuration&, session&) { return {}; }

const backend can{"can", "runs", two_variants, level::group, true, always, nothing};
const backend cannot{"cannot", "does not", two_variants, level::group, true, never, nothing};

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

sweep_request request() {
  sweep_request r;
  r.backends = {{&can, "one"}, {&cannot, "one"}};
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

TEST(plan, waives_more_threads_than_the_machine_has_unless_told) {
  auto r = request();
  r.members = {3};
  EXPECT_NE(make_plan(r, one_rank(2)).cells[0].points[0].waived.find("--oversubscribe"), std::string::npos);
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
  EXPECT_NE(format_plan(planned).find("late 5000 us"), std::string::npos);
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
  const auto text = format_plan(make_plan(r, one_rank(2)));
  EXPECT_NE(text.find("CPU 1"), std::string::npos);
  EXPECT_NE(text.find("waived: not on this planet"), std::string::npos);
  EXPECT_NE(text.find("1 point"), std::string::npos);
}

}  // namespace
}  // namespace mgsync
