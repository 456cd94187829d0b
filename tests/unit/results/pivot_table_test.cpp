#include "src/results/frame/pivot_table.hpp"

#include <gtest/gtest.h>

#include "src/base/errors.hpp"
#include "src/results/frame/selection.hpp"
#include "tests/unit/refused.hpp"
#include "tests/unit/results/made_up_results.hpp"

namespace mgsync { namespace {

result on_gpus(std::string variant, int members, unsigned blocks_per_sm, unsigned threads, double us) {
  auto p = test::a_point("multigrid", variant, members);
  p.device = topology::device::gpu;
  p.set(axes::blocks_per_sm, static_cast<double>(blocks_per_sm));
  p.set(axes::threads_per_block, static_cast<double>(threads));
  if (us == 0) return test::waived(p, "not resident at once");
  auto r = test::measured(p, us);
  r.metrics[0].median = us;
  return r;
}

TEST(pivot, a_row_per_method_over_the_member_counts_fastest_first) {
  const std::vector all{on_gpus("hub", 2, 1, 32, 3.5), on_gpus("auto", 2, 1, 32, 2.5),
                        on_gpus("hub", 4, 1, 32, 4.5), on_gpus("auto", 4, 1, 32, 2.75),
                        on_gpus("vendor", 4, 1, 32, 0)};
  EXPECT_EQ(table_by(all, {.by = "members"}), "1x32, GPUs (medians in us)\n\n"
                                              "| barrier | 2 | 4 |\n|---|---|---|\n"
                                              "| multigrid:auto | 2.500 | 2.750 |\n"
                                              "| multigrid:hub | 3.500 | 4.500 |\n\n");
}

TEST(pivot, a_number_of_one_batch_is_marked_and_goes_behind) {
  std::vector all{on_gpus("auto", 2, 1, 32, 2.5), on_gpus("hub", 2, 1, 32, 1.5)};
  EXPECT_EQ(table_by(all, {.by = "members"}).find('?'), std::string::npos);
  all[1].metrics = {summarize_batches({"latency", "us"}, {{1.5}})};
  const auto text = table_by(all, {.by = "members"});
  EXPECT_NE(text.find("| multigrid:auto | 2.500 |\n| multigrid:hub | 1.500 ? |\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("?: of one batch, or too few for a 95 % interval"), std::string::npos) << text;
}

TEST(pivot, a_number_of_too_few_batches_for_an_interval_is_marked) {
  std::vector all{on_gpus("auto", 2, 1, 32, 2.5), on_gpus("hub", 2, 1, 32, 3.5)};
  all[1].metrics = {summarize_batches({"latency", "us"}, {{0.7}, {3.5}, {70.9}, {70.9}, {0.7}})};
  const auto text = table_by(all, {.by = "members"});
  EXPECT_NE(text.find("| multigrid:auto | 2.500 |\n| multigrid:hub | 3.500 ? |\n"), std::string::npos)
      << text;
  all[1].metrics = {summarize_batches({"latency", "us"}, {{0.7}, {3.5}, {70.9}, {70.9}, {0.7}, {3.5}})};
  EXPECT_EQ(table_by(all, {.by = "members"}).find('?'), std::string::npos);
}

TEST(pivot, a_column_per_shape_in_the_order_of_their_numbers) {
  const std::vector all{on_gpus("auto", 4, 1, 1024, 2.5), on_gpus("auto", 4, 1, 32, 2),
                        on_gpus("auto", 4, 32, 64, 3)};
  EXPECT_NE(table_by(all, {.by = "shapes"})
                .find("| barrier \\ shapes | 1x32 | 1x1024 | 32x64 |\n|---|---|---|---|\n| multigrid:auto | "
                      "2.000 | 2.500 | 3.000 |"),
            std::string::npos)
      << table_by(all, {.by = "shapes"});
}

TEST(pivot, over_another_subject_with_intervals_and_as_a_sum) {
  std::vector all{on_gpus("hub", 2, 1, 32, 3), on_gpus("auto", 2, 1, 32, 2), on_gpus("hub", 4, 1, 32, 5),
                  on_gpus("auto", 4, 1, 32, 4)};
  const auto relative = table_by(all, {.by = "members", .relative_to = "multigrid:auto"});
  EXPECT_NE(relative.find("GPUs (times that of multigrid:auto)"), std::string::npos) << relative;
  EXPECT_NE(relative.find("| multigrid:hub | 1.500 | 1.250 |"), std::string::npos) << relative;
  const auto together = table_by(all, {.by = "members", .sum = "multigrid:auto,multigrid:hub"});
  EXPECT_NE(together.find("| multigrid:auto + multigrid:hub | 5.000 | 9.000 |"), std::string::npos)
      << together;
  for (auto& r : all) {
    r.metrics[0].ci95_low = 1.5;
    r.metrics[0].ci95_high = 3.5;
    r.quantities["load"] = {"GB/s", {10, 20}};
  }
  const auto intervals = table_by(all, {.by = "members", .value = "ci95"});
  EXPECT_NE(intervals.find("| multigrid:auto | 2.000 (1.500..3.500) |"), std::string::npos) << intervals;
  const auto named = table_by(all, {.by = "members", .value = "load"});
  EXPECT_NE(named.find("GPUs (load in GB/s)"), std::string::npos) << named;
  EXPECT_NE(named.find("| multigrid:auto | 10.00..20.00 |"), std::string::npos) << named;
  EXPECT_EQ(test::refused([&] { table_by(all, {.by = "members", .value = "mean"}); }),
            "--value is 'mean'; of these results accepted: median, ci95, range, width, latency, load");
  EXPECT_EQ(test::refused([&] { table_by(all, {.by = "members", .relative_to = "grid"}); }),
            "--relative-to is 'grid'; of these results accepted: multigrid:hub, multigrid:auto");
}

TEST(pivot, a_summary_pools_what_has_the_same_value) {
  std::vector<result> all;
  for (int i = 1; i <= 10; ++i) all.push_back(on_gpus("auto", 2, 1, static_cast<unsigned>(32 * i), i));
  all.push_back(on_gpus("auto", 4, 1, 32, 20));
  EXPECT_EQ(
      table_by(all, {.by = "members", .summary = true}),
      "medians in us\n\n"
      "| members | values | least | median | nine of ten within | most |\n|---|---:|---:|---:|---:|---:|\n"
      "| 2 | 10 | 1.000 | 5.500 | 9.000 | 10.00 |\n"
      "| 4 | 1 | 20.00 | 20.00 | 20.00 | 20.00 |\n"
      "| all | 11 | 1.000 | 6.000 | 10.00 | 20.00 |\n\n");
}

TEST(selection, keeps_what_has_one_of_the_words) {
  const std::vector all{on_gpus("auto", 2, 1, 32, 2), on_gpus("hub", 2, 1, 32, 3),
                        on_gpus("auto", 4, 1, 32, 4)};
  EXPECT_EQ(selected(all, "members=2").size(), 2U);
  EXPECT_EQ(selected(all, "members=2,subject=multigrid:hub/grid").size(), 1U);
  EXPECT_EQ(selected(all, "subject=multigrid,shape=1x32/4x256").size(), 3U);
  EXPECT_EQ(selected(all, "members!=4,subject!=multigrid:hub/grid").size(), 1U);
  // What leaves nothing is a slip, and is told what there is.
  EXPECT_EQ(
      test::refused([&] { selected(all, "foo=1"); }),
      "--where has 'foo', which no result has; accepted: subject, shape, members, ranks, device, study, "
      "placement, blocks_per_sm, load, threads_per_block");
  EXPECT_EQ(test::refused([&] { selected(all, "threads_per_block=64"); }),
            "--where has 'threads_per_block=64', which leaves no result; accepted of threads_per_block: 32");
  EXPECT_EQ(test::refused([&] { selected(all, "members=99"); }),
            "--where has 'members=99', which leaves no result; accepted of members: 2, 4");
  EXPECT_EQ(
      test::refused([&] { selected(all, "members=4,subject=multigrid:hub"); }),
      "--where has 'subject=multigrid:hub', which leaves no result; accepted of subject: multigrid:auto");
  EXPECT_THROW(selected(all, "members"), usage_error);
  EXPECT_THROW(selected(all, "colour=red"), usage_error);
}

TEST(pivot, over_any_axis_of_the_results) {
  auto loaded = on_gpus("auto", 2, 1, 32, 9);
  loaded.point.set(axes::load, "peer-stores:16x512@others");
  const auto text = table_by(std::vector{on_gpus("auto", 2, 1, 32, 2), loaded}, {.by = "load"});
  EXPECT_NE(text.find("| barrier \\ load | idle | peer-stores:16x512@others |"), std::string::npos) << text;
  EXPECT_NE(text.find("| multigrid:auto | 2.000 | 9.000 |"), std::string::npos) << text;
}

TEST(pivot, a_heat_map_over_the_shapes) {
  const std::vector all{on_gpus("auto", 4, 1, 32, 2), on_gpus("auto", 4, 1, 1024, 2.5),
                        on_gpus("auto", 4, 32, 32, 3), on_gpus("auto", 4, 32, 1024, 0)};
  EXPECT_EQ(table_by_shape(all), "multigrid:auto on 4 GPUs (medians in us)\n\n"
                                 "| blocks per SM \\ threads | 32 | 1024 |\n|---|---|---|\n"
                                 "| 1 | 2.000 | 2.500 |\n"
                                 "| 32 | 3.000 | - |\n\n");
}

TEST(pivot, loaded_and_idle_results_do_not_share_a_table) {
  auto loaded = on_gpus("auto", 2, 1, 32, 9);
  loaded.point.set(axes::load, "streaming");
  const auto text = table_by(std::vector{on_gpus("auto", 2, 1, 32, 2), loaded}, {.by = "members"});
  EXPECT_NE(text.find("1x32, GPUs (medians in us), load streaming\n"), std::string::npos);
}

TEST(pivot, what_else_differs_keeps_results_apart) {
  const auto plain = on_gpus("auto", 2, 1, 32, 2);
  std::vector all(5, plain);
  all[1].point.set(axes::work, 20.0, "us");
  all[2].point.set(axes::payload, 64.0, "words");
  all[3].point.set(axes::pinned, "no");
  all[4].point.set(axes::oversubscribed, "yes");
  for (const auto& text : {table_by(all, {.by = "members"}), table_by_shape(all)}) {
    EXPECT_NE(text.find("(medians in us)\n"), std::string::npos) << text;
    for (const char* under : {"work 20 us", "payload 64 words", "not pinned", "oversubscribed"})
      EXPECT_NE(text.find(std::string("(medians in us), ") + under + "\n"), std::string::npos) << text;
  }
}

TEST(pivot, says_nothing_of_what_was_not_measured) {
  EXPECT_EQ(table_by(std::vector{on_gpus("vendor", 4, 1, 32, 0)}, {.by = "members"}), "");
  EXPECT_EQ(table_by_shape(std::vector{on_gpus("vendor", 4, 1, 32, 0)}), "");
}

}}  // namespace mgsync
