// What study library plans, what its checks take for right, and its tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/studies/planned.hpp"

namespace mgsync {
extern const study library_study;
namespace {

std::vector<measurement> plan_of(const typed_words& typed) {
  return test::planned_on_gpus(library_study, typed);
}

TEST(library_plan, measures_all_forms_of_a_shape_in_turn_and_without_a_number_one_gpu_and_all) {
  const auto plan = plan_of({{"part", {"sync"}}, {"shape", {"b1x32", "4x256"}}});
  std::set<std::string> cells;
  std::set<int> counts;
  for (const auto& m : plan) {
    cells.insert(m.cell);
    counts.insert(m.point.members);
    EXPECT_TRUE(m.waived.empty()) << m.waived;
  }
  EXPECT_EQ(counts, (std::set<int>{1, 4}));
  EXPECT_EQ(cells, (std::set<std::string>{"sync 1 4x256", "sync 4 4x256", "sync 4 b1x32"}));
  EXPECT_EQ(plan.size(), 7u * cells.size());
}

TEST(library_plan, says_why_a_point_is_not_measured) {
  for (const auto& m : plan_of({{"part", {"fence"}}, {"members", {"1"}}}))
    EXPECT_NE(m.waived.find("2 GPUs or more"), std::string::npos) << m.waived;
  for (const auto& m : plan_of({{"part", {"stencil"}}, {"members", {"5"}}}))
    EXPECT_EQ(m.waived, "5 GPUs are asked for, and 4 are here");
}

TEST(library_plan, a_build_has_the_name_that_was_typed) {
  const auto plan = plan_of({{"part", {"stencil"}}, {"cells", {"1024"}}, {"code", {"unrolled"}}});
  ASSERT_FALSE(plan.empty());
  for (const auto& m : plan) EXPECT_EQ(m.point.word("code"), "unrolled");
}

// Takes the runs that the checker asked for as such a subject would carry them out.
verdict judged(const measurement& m, std::uint64_t wrong_where_broken, std::uint64_t wrong) {
  const auto checker = m.checker();
  while (const auto asked = checker->next()) {
    std::vector<seen> came;
    for (const auto& one : asked->orders) {
      came.push_back({.done = one});
      came.back().checked = check_counts{
          .rounds = one.count, .compared = 100, .wrong = one.fault.empty() ? wrong : wrong_where_broken};
    }
    checker->take(*asked, came);
  }
  return checker->judge();
}

TEST(library_check, passes_where_only_what_was_broken_on_purpose_is_wrong) {
  for (const char* part : {"sync", "stencil"}) {
    const auto plan = plan_of({{"part", {part}}, {"members", {"2"}}});
    const auto& m = plan.front();
    EXPECT_TRUE(judged(m, 3, 0).passed) << part;
    EXPECT_FALSE(judged(m, 3, 1).passed) << part;
    EXPECT_FALSE(judged(m, 0, 0).passed) << part << ": what was broken on purpose was not noticed";
  }
}

TEST(library_check, every_run_of_fences_has_a_known_answer) {
  const auto plan = plan_of({{"part", {"fence"}}, {"members", {"2"}}});
  const auto after = [&](std::uint64_t wrong) {
    const auto checker = plan.front().checker();
    seen run;
    run.checked = check_counts{.rounds = 1, .compared = 1, .wrong = wrong};
    checker->take({}, std::vector{run});
    return checker->judge();
  };
  EXPECT_TRUE(after(0).passed);
  EXPECT_FALSE(after(1).passed);
  EXPECT_FALSE(plan.front().checker()->judge().passed) << "nothing was run";
}

result measured(std::string subject, std::string variant, double us, double per_sm, std::string code = "") {
  result r;
  r.point.study = "library";
  r.point.subject = std::move(subject);
  r.point.variant = std::move(variant);
  r.point.device = topology::device::gpu;
  r.point.members = 2;
  if (r.point.subject == "stencil") r.point.set("cells", per_sm);
  else if (per_sm > 0) r.point.set("blocks_per_sm", per_sm), r.point.set("threads_per_block", 32.0);
  if (!code.empty()) r.point.set("code", std::move(code));
  r.status = result_status::measured;
  metric m{metric_name{"latency", "us"}};
  m.median = m.ci95_low = m.ci95_high = us;
  r.metrics.push_back(m);
  return r;
}

const table* find(const evaluation& e, const std::string& name) {
  const auto found = std::ranges::find(e.tables, name, [](const table& t) { return t.heading.name; });
  return found == e.tables.end() ? nullptr : &*found;
}

TEST(library_tables, say_what_sync_takes_over_the_algorithm_at_the_same_shape) {
  const std::vector<result> all{
      measured("sync", "algorithm", 2, 1), measured("sync", "1", 2.1, 1),
      measured("sync", "2", 1.9, 1),       measured("sync", "1-without-looks", 2, 1),
      measured("sync", "algorithm", 4, 8), measured("sync", "1", 4, 8)};
  const auto e = library_study.evaluate(all);
  const auto* t = find(e, "sync-2");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->columns[1].title, "1x32");
  EXPECT_EQ(t->columns[2].title, "8x32");
  EXPECT_EQ(t->rows[0], (std::vector<std::string>{"algorithm", "2000", "4000"}));
  EXPECT_EQ(t->rows[1], (std::vector<std::string>{"sync 1", "2100 (+5.0 %)", "4000 (+0.0 %)"}));
  EXPECT_EQ(t->rows[3], (std::vector<std::string>{"sync 1 without looks", "2000 (+0.0 %)", "-"}));
  const auto* ranges = find(e, "sync-ranges");
  ASSERT_NE(ranges, nullptr);
  EXPECT_EQ(ranges->rows[0],
            (std::vector<std::string>{"2", "+0.0 to +5.0 %", "-5.0 to -5.0 %", "+100 to +100 ns", "-"}));
}

TEST(library_tables, keep_builds_apart) {
  const std::vector<result> all{
      measured("sync", "algorithm", 2, 1, "before"), measured("sync", "1", 2.2, 1, "before"),
      measured("sync", "algorithm", 4, 1, "after"), measured("sync", "1", 4, 1, "after")};
  const auto e = library_study.evaluate(all);
  EXPECT_EQ(find(e, "sync-2"), nullptr);
  const auto* t = find(e, "sync-codes-2");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->rows, (std::vector<std::vector<std::string>>{{"before", "+10.0"}, {"after", "+0.0"}}));
}

TEST(library_tables, of_fences_say_what_waited) {
  std::vector<result> all{measured("fence", "", 1, 0), measured("fence", "", 2, 4)};
  for (auto& r : all)
    for (const char* name : {"mean", "p99", "most"}) {
      r.metrics.push_back(r.metrics.front());
      r.metrics.back().name = name;
    }
  const auto e = library_study.evaluate(all);
  const auto* t = find(e, "fences");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->rows,
            (std::vector<std::vector<std::string>>{{"nothing", "1", "1", "1"}, {"4x32", "2", "2", "2"}}));
}

}  // namespace
}  // namespace mgsync
