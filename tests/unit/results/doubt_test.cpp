#include "src/results/values/doubt.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

#include "made_up_results.hpp"
#include "scratch_folder.hpp"
#include "src/base/json_fields.hpp"
#include "src/results/comparison/comparison.hpp"
#include "src/results/files/csv_document.hpp"
#include "src/results/files/merging.hpp"
#include "src/results/files/store.hpp"
#include "src/results/frame/results_table.hpp"

namespace mgsync { namespace {

const doubt crowded{"load", 4, "4 runnable threads for 2 hardware threads"};
const doubt more_crowded{"load", 7, "7 runnable threads for 2 hardware threads"};
const doubt stolen{"steal", 0.05, "5.0 % of the CPU time stolen by the hypervisor"};

result doubted(const char* subject, std::vector<doubt> doubts, double us = 1) {
  auto one = test::measured(test::a_point(subject, "default", 2), us);
  one.doubts = std::move(doubts);
  return one;
}

TEST(doubts, of_each_kind_the_most_counts) {
  std::vector<doubt> all{crowded};
  add_doubts(all, std::vector{stolen, more_crowded, crowded});
  EXPECT_EQ(all, (std::vector{more_crowded, stolen}));
}

TEST(regimes, are_two_groups_that_lie_apart_by_more_than_they_are_wide) {
  const std::vector<double> two{0.071, 0.072, 0.222, 0.070, 0.224, 0.221, 0.073};
  ASSERT_TRUE(two_regimes(two));
  EXPECT_NEAR(*two_regimes(two), 3.1, 0.05);
  EXPECT_FALSE(two_regimes(std::vector{1.0, 1.01, 1.2, 1.21, 1.2, 1.0}));     // less than a quarter apart
  EXPECT_FALSE(two_regimes(std::vector{1.0, 1.4, 1.9, 2.5, 3.3, 4.4, 5.9}));  // spread all over
  EXPECT_FALSE(
      two_regimes(std::vector{1.0, 1.01, 1.02, 1.0, 0.99, 1.0, 5.0}));  // one that is odd is no group
  EXPECT_FALSE(two_regimes(std::vector{1.0, 3.0}));                     // too few to tell
  EXPECT_FALSE(two_regimes(std::vector{-1.0, -1.1, 3.0, 3.1, 3.0}));    // no quotient of these
}

TEST(regimes, are_not_found_in_one_distribution) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> one(0, 0.05);
  for (int series = 0; series < 2000; ++series) {
    std::vector<double> medians(static_cast<std::size_t>(6 + series % 40));
    for (double& each : medians) each = one(random);
    EXPECT_FALSE(two_regimes(medians)) << series;
  }
}

TEST(doubts, of_samples_are_those_below_zero_and_two_regimes) {
  auto one = test::measured(test::a_point("a", "b", 2), 1);
  EXPECT_TRUE(doubts_of_samples(one.metrics, one.samples).empty());
  for (std::size_t i = 0; i < 5; ++i)
    one.samples[i].values.front().value = -0.1;  // a tenth of 50 is not more than a tenth
  EXPECT_TRUE(doubts_of_samples(one.metrics, one.samples).empty());
  one.samples[5].values.front().value = -0.1;
  const auto found = doubts_of_samples(one.metrics, one.samples);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, doubt_kinds::negative);
  EXPECT_EQ(found[0].text, "12 % of the samples below zero");
  one.metrics[0].better = better::neither;  // a difference that may well be nothing
  EXPECT_TRUE(doubts_of_samples(one.metrics, one.samples).empty());
  one.metrics[0].better = better::less;
  one.metrics[0].unit = "GB/s";  // no time: what is below zero there is another matter
  EXPECT_TRUE(doubts_of_samples(one.metrics, one.samples).empty());
  EXPECT_TRUE(doubts_of_samples({}, {}).empty());
}

TEST(doubts, are_one_line_below_the_table_with_the_points_counted) {
  const std::vector all{doubted("a", {crowded}), doubted("b", {more_crowded, stolen}, 2), doubted("c", {}, 3),
                        test::waived(test::a_point("d", "", 2), "no GPU")};
  EXPECT_EQ(summary_of(all),
            "2 of 3 points mean little: 7 runnable threads for 2 hardware threads (the worst of 2), 5.0 "
            "% of the CPU time stolen by the hypervisor (1)");
  const auto text = format_table(all);
  EXPECT_NE(text.find("\n\n" + summary_of(all) + "\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("mean little"), text.rfind("mean little")) << text;
  EXPECT_EQ(summary_of(std::vector{doubted("a", {})}), "");
  EXPECT_EQ(format_table(std::vector{doubted("a", {})}).find("little"), std::string::npos);
}

TEST(doubts, travel_as_json_which_has_no_such_key_without_them) {
  const auto one = doubted("a", {crowded, stolen});
  EXPECT_EQ(from_json<result>(dumped(to_json(one)), "here").doubts, one.doubts);
  EXPECT_FALSE(to_json(doubted("a", {})).contains("doubts"));
  auto later = to_json(one);
  later["doubts"][0]["kind"] = "of a later version";
  EXPECT_EQ(from_json<result>(dumped(later), "here").doubts.front().text, crowded.text);
}

TEST(doubts, travel_through_a_store) {
  const test::scratch_folder folder;
  const auto file = folder.path() / "s.jsonl";
  const auto one = doubted("a", {crowded});
  {
    store written(file, store_header{test::a_machine(), "mgsync", 1, "2026-01-31T12:00:00Z", {}});
    for (const auto& s : one.samples) written.add(one.point, {{"latency", "us"}}, one.method, s);
    written.finish(one);
    written.end("complete");
  }
  ASSERT_EQ(read_store(file).finished.size(), 1U);
  EXPECT_EQ(read_store(file).finished[0].doubts, one.doubts);
}

result_file file_with(const char* name, result one) {
  result_file file;
  file.name = name;
  file.complete = true;
  file.document.machine = test::a_machine();
  file.document.ended = "complete";
  file.document.results = {std::move(one)};
  return file;
}

TEST(doubts, of_all_files_count_when_they_are_merged) {
  auto other = test::measured(test::a_point("a", "default", 2), 1, 2);
  other.doubts = {more_crowded, stolen};
  for (const auto unit : {replication::batches, replication::processes}) {
    const auto merged =
        merge_results(std::vector{file_with("1", doubted("a", {crowded})), file_with("2", other)}, unit);
    ASSERT_EQ(merged.document.results.size(), 1U);
    EXPECT_EQ(merged.document.results[0].doubts, (std::vector{more_crowded, stolen}));
  }
  // Two runs that each have one regime have two together.
  const auto apart =
      merge_results(std::vector{file_with("1", doubted("a", {})),
                                file_with("2", test::measured(test::a_point("a", "default", 2), 3, 2))},
                    replication::batches);
  ASSERT_EQ(apart.document.results[0].doubts.size(), 1U);
  EXPECT_EQ(apart.document.results[0].doubts[0].kind, doubt_kinds::regimes);
}

TEST(doubts, are_carried_by_a_comparison) {
  const auto document = [](result one) { return file_with("", std::move(one)).document; };
  const std::vector base{document(doubted("a", {}))}, now{document(doubted("a", {crowded}))};
  const auto compared = compare(base, now);
  ASSERT_EQ(compared.points.size(), 1U);
  EXPECT_EQ(compared.points[0].notes, std::vector<std::string>{"means little in NEW"});
  EXPECT_EQ(doubtful_sides(compared),
            std::vector<std::string>{
                "NEW: 1 of 1 point means little: 4 runnable threads for 2 hardware threads (1)"});
  EXPECT_TRUE(doubtful_sides(compare(base, base)).empty());
  EXPECT_EQ(compare(now, now).points[0].notes, std::vector<std::string>{"means little"});
}

TEST(doubts, are_a_column_of_the_csv_where_there_are_any) {
  json_document document = file_with("", doubted("a", {crowded})).document;
  EXPECT_NE(format_csv(document).find(",notes,doubts\r\n"), std::string::npos);
  EXPECT_NE(format_csv(document).find("," + crowded.text + "\r\n"), std::string::npos);
  document.results[0].doubts.clear();
  EXPECT_EQ(format_csv(document).find("doubts"), std::string::npos);
}

}}  // namespace mgsync
