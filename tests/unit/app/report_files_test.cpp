#include "src/app/report_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "src/app/report_page.hpp"
#include "src/results/files/atomic_file.hpp"
#include "tests/unit/studies/model/made_up_measurement.hpp"

namespace mgsync { namespace {

result sum(const char* way, const char* variant, double bytes, double us, const char* program) {
  result r;
  r.point.study = "reduction";
  r.point.subject = way;
  r.point.variant = variant;
  r.point.device = topology::device::gpu;
  r.point.members = 1;
  r.point.set("type", "fp64");
  r.point.set("memory", "cold");
  r.point.set("bytes", bytes, "B");
  model::test::measure(r, "us", us);
  if (*program != 0) r.environment["mgsync"] = program;
  return r;
}

// A block and a grid whose sums cross at `where`, at sizes in steps of 2.
std::vector<result> block_and_grid(double where, const char* program) {
  std::vector<result> all;
  for (double bytes = 8; bytes <= 65536; bytes *= 2) {
    all.push_back(sum("auto-graph", "vector4:1024x1:one", bytes, 1 + 2 * bytes / where, program));
    all.push_back(sum("auto-graph", "vector4:256x2:all", bytes, 3, program));
  }
  return all;
}

// Where the switches of a page are, by the titles of their tables.
std::vector<std::pair<std::string, std::string>> switches_of(const std::vector<shown_study>& shown) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& one : shown)
    for (const auto& t : one.shown.tables)
      if (t.heading.name == "table-iv-wider") found.emplace_back(t.heading.title, t.rows.at(0).at(5));
  return found;
}

// One program measured every size, a later one some of them again: that neither takes points of the other's
// curve.
TEST(report_files, curves_are_of_one_program) {
  const auto before = block_and_grid(200, "before"), after = block_and_grid(2000, "after");
  std::vector<result> latest, replaced;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool again = i % 4 < 2;
    latest.push_back(again ? after[i] : before[i]);
    if (again) replaced.push_back(before[i]);
  }
  const auto switches = switches_of(evaluate_all(latest, replaced));
  ASSERT_EQ(switches.size(), 2U);
  EXPECT_EQ(switches[0].first, "From which size on more members pay (mgsync after)");
  EXPECT_NEAR(std::stod(switches[0].second), 2, 0.3);  // "1.95 KiB", of half of the sizes
  EXPECT_EQ(switches[1].first, "From which size on more members pay (mgsync before)");
  EXPECT_EQ(switches[1].second, switches_of(evaluate_all(block_and_grid(200, ""))).at(0).second)
      << "as its file alone says";
  // Of one program nothing is named, and a point that was measured twice counts as it was last.
  const auto alone = switches_of(evaluate_all(block_and_grid(200, ""), block_and_grid(2000, "")));
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].first, "From which size on more members pay");
  EXPECT_EQ(alone[0].second, switches[1].second);
  // Nor because a barrier is of another program.
  auto with_barrier = block_and_grid(200, "before");
  with_barrier.push_back(sum("auto", "", 8, 1, "after"));
  with_barrier.back().point.study = point{}.study;
  EXPECT_EQ(switches_of(evaluate_all(with_barrier)).at(0).first, "From which size on more members pay");
}

// What one study cannot make of the results is said in its section, and nothing else is lost.
TEST(report_files, an_evaluation_that_fails_is_a_section_that_says_so) {
  const auto* one = studies().front();
  const auto failed = shown_of(*one, []() -> evaluation { throw std::invalid_argument("sizes rise"); });
  EXPECT_EQ(failed.of, one);
  EXPECT_EQ(failed.failed, "sizes rise");
  ASSERT_EQ(failed.shown.sentences.size(), 1U);
  EXPECT_EQ(failed.shown.sentences[0], "What the study " + std::string(one->name) +
                                           " makes of these results is missing, since that failed: sizes "
                                           "rise. The results themselves are whole.");
  EXPECT_TRUE(shown_of(*one, [] { return evaluation{{"fine"}, {}, {}}; }).failed.empty());
}

// Two kinds of machine of one name, one of which has barriers, and a larger one that has none.
report_files of_three_machines() {
  const std::string folder = MGSYNC_RESULTS_FOLDER "/h200x2/";
  return read_report_files({folder + "switch.json.xz", folder + "loadlab.json.xz", folder + "late.json.xz"},
                           across::hosts, false);
}

TEST(report_files, machines_have_different_titles_and_those_with_barriers_stand_first) {
  const auto all = of_three_machines();
  ASSERT_EQ(all.machines.size(), 3U);
  EXPECT_EQ(all.machines[0].title, "2 x NVIDIA H200, 32 cores of Intel(R) Xeon(R) Processor");
  EXPECT_EQ(all.machines[1].title, "4 x NVIDIA H200");
  EXPECT_EQ(all.machines[2].title, "2 x NVIDIA H200, no CPU recorded");
}

// A point of two files is that of the later one, unless that tells less: a single batch has no interval.
TEST(report_files, one_batch_takes_no_place_of_several) {
  json_document earlier, later;
  earlier.started = "2026-01-01T00:00:00Z", later.started = "2026-01-02T00:00:00Z";
  for (auto* d : {&earlier, &later}) d->machine.hosts = {"n"}, d->machine.cores = 2;
  auto several = sum("auto", "", 8, 3, ""), other = sum("auto", "", 16, 5, "");
  auto single = sum("auto", "", 8, 2, "");
  for (auto* r : {&several, &other}) r->metrics[0].raw = {1, 2};
  single.metrics[0].raw = {2};
  auto again = sum("auto", "", 16, 4, "");
  again.metrics[0].raw = {4, 4};
  earlier.results = {several, other}, later.results = {single, again};
  const auto folder = std::filesystem::temp_directory_path() / "mgsync-one-batch";
  std::filesystem::create_directories(folder);
  const std::string a = folder / "a.json", b = folder / "b.json";
  write_file_atomically(a, format_json(earlier)), write_file_atomically(b, format_json(later));
  const auto all = read_report_files({b, a}, across::hosts, false, false);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(all.machines.size(), 1U);
  std::map<double, double> counting;
  for (const auto& r : all.machines[0].results) counting[*r.point.number("bytes")] = r.metrics.at(0).median;
  EXPECT_EQ(counting, (std::map<double, double>{{8, 3}, {16, 4}}));
  EXPECT_EQ(all.machines[0].earlier.size(), 2U);
}

TEST(report_page, begins_with_barriers_and_says_which_command_judges_a_node) {
  const auto all = of_three_machines();
  std::vector<std::string> failed;
  const auto p = page_of({}, all, failed);
  const auto& told = p.verdict.shown.sentences;
  ASSERT_GE(told.size(), 2U);
  EXPECT_TRUE(
      told.front().starts_with("2 x NVIDIA H200, 32 cores of Intel(R) Xeon(R) Processor: multigrid:library "))
      << told.front();
  EXPECT_TRUE(told.back().starts_with("Whether a node is normal is not judged here: mgsync accept "))
      << told.back();
}

TEST(report_page, an_error_is_told_from_a_failure) {
  const auto all = of_three_machines();
  std::vector<std::string> failed;
  int endings = 0;
  for (const auto& s : page_of({}, all, failed).sections)
    for (const auto& t : s.shown.tables) {
      if (t.heading.name != "endings") continue;
      ++endings;
      const bool has_error =
          std::ranges::any_of(t.rows, [](const auto& row) { return row.front() == "error"; });
      EXPECT_EQ(t.heading.caption.find("Error: ") != std::string::npos, has_error) << s.title;
    }
  EXPECT_GE(endings, 1);
}

}}  // namespace mgsync
