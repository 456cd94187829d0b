// Machines of thousands of cores: what is said of them takes time and memory in proportion, or nearly.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "build_kind.hpp"
#include "tests/unit/growth.hpp"
#include "topology/description.hpp"
#include "topology/grouping.hpp"
#include "topology/placement.hpp"
#include "topology/reports/reports.hpp"
#include "topology/sources/xml_reader.hpp"

namespace mgsync::topology { namespace {

machine machine_of(std::size_t cores) {
  machine m;
  m.host = "large";
  for (int p = 0; p < 8; ++p) {
    m.packages.push_back({p, ""});
    m.numa_nodes.push_back({p, p});
  }
  for (int c = 0; c < static_cast<int>(cores); ++c) {
    const int package = c / static_cast<int>(cores / 8);
    m.cores.push_back({c, package, package, c / 8, {c, static_cast<int>(cores) + c}});
  }
  m.allowed_cpus.resize(2 * cores);
  std::iota(m.allowed_cpus.begin(), m.allowed_cpus.end(), 0);
  return m;
}

class on_a_large_machine : public testing::TestWithParam<const char*> {};

// Each of thousands of threads had preferences of its own among thousands of cores, sorted anew for each.
TEST_P(on_a_large_machine, members_on_every_core_are_placed_quickly) {
  const auto group = [](const machine& m) {
    const rank_view view{0, 0, m, {}};
    grouping_request request;
    request.kind = device::host;
    request.members = static_cast<int>(m.cores.size());
    request.placement = GetParam();
    return make_group(std::span(&view, 1), request);
  };
  std::set<int> cpus;
  const auto large = machine_of(8192);
  EXPECT_LT(mgsync::test::cpu_seconds_of([&] {
              for (const auto& one : group(large).chosen.members)
                cpus.insert(one.cpus.begin(), one.cpus.end());
            }),
            30);
  EXPECT_EQ(cpus.size(), 8192U);
}

TEST(large_machine, has_one_list_of_preferences_for_all_members_that_want_the_same) {
  const auto large = machine_of(8192);
  for (const auto& [kind, lists] :
       {std::pair{placement_kind::near, 1U}, {placement_kind::far, 8U}, {placement_kind::spread, 8U}}) {
    preferred_cores preferred(large.cores, kind, 8192, 1);
    std::set<const void*> made;
    for (int i = 0; i < 8192; ++i) made.insert(preferred.of(i).get());
    EXPECT_EQ(made.size(), lists);
  }
}

INSTANTIATE_TEST_SUITE_P(placements, on_a_large_machine, testing::Values("near", "far", "spread"));

TEST(large_machine, is_described_and_reported) {
  const std::vector<rank_view> views{{0, 0, machine_of(8192), {}}};
  const auto text = write_description(views.front().seen);
  EXPECT_EQ(read_description(text, "large"), views.front().seen);
  EXPECT_LT(mgsync::test::cpu_seconds_of([&] {
              for (const auto format : report_formats()) write_report(views, {std::string(format), 0, true});
            }),
            60 * test::slack);
}

// What is written as XML was ten times what is read.
TEST(large_machine, comes_back_from_xml) {
  const auto large = machine_of(8192);
  std::string text;
  EXPECT_LT(mgsync::test::cpu_seconds_of([&] { text = write_xml(large); }), 5 * test::slack);
  EXPECT_LT(text.size(), max_description_bytes);
  if (test::sanitized) GTEST_SKIP() << "hwloc is bounded by the clock, and slow under a sanitizer";
  EXPECT_EQ(read_xml(text, "large.xml"), large);
}

}}  // namespace mgsync::topology
