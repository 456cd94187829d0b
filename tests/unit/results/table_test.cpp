#include "src/results/frame/results_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <sstream>

#include "made_up_results.hpp"

namespace mgsync { namespace {

using words = std::vector<std::string>;

words lines_of(const std::string& text) {
  words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

words words_of(const std::string& line) {
  words all;
  std::istringstream in(line);
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

// Of the lines of a table (its heading, its titles, then the rows) the one of this row.
std::string row_at(const words& lines, std::size_t row) { return lines.at(row + 2); }

bool has_word(const words& all, const std::string& one) { return std::ranges::find(all, one) != all.end(); }

// The mark of a row with the given first columns: the subject and the latency, and others before that.
std::string mark_at(const words& lines, std::size_t row, std::size_t columns_before = 2) {
  const auto all = words_of(row_at(lines, row));
  return all.at(columns_before).size() == 1 ? all.at(columns_before) : "";
}

// A result whose interval is low..high exactly.
result between(const char* backend, double low, double high, int members = 2) {
  result one = test::measured(test::a_point(backend, "default", members), (low + high) / 2);
  one.metrics[0].median = (low + high) / 2;
  one.metrics[0].ci95_low = low;
  one.metrics[0].ci95_high = high;
  return one;
}

TEST(table, numbers_have_four_significant_digits) {
  EXPECT_EQ(format_number(0.23138), "0.2314");
  EXPECT_EQ(format_number(0.05), "0.0500");
  EXPECT_EQ(format_number(1.2345), "1.234");
  EXPECT_EQ(format_number(12.345), "12.35");
  EXPECT_EQ(format_number(123.45), "123.5");
  EXPECT_EQ(format_number(12345.6), "12346");
  EXPECT_EQ(format_number(-0.5), "-0.5000");
}

TEST(table, shapes) {
  point one;
  EXPECT_EQ(format_shape(one), "");
  one.set(axes::blocks_per_sm, 4.0);
  EXPECT_EQ(format_shape(one), "4");
  one.set(axes::threads_per_block, 256.0);
  EXPECT_EQ(format_shape(one), "4x256");
  one.remove(axes::blocks_per_sm);
  one.set(axes::blocks, 1.0);
  EXPECT_EQ(format_shape(one), "b1x256");
}

TEST(table, what_orders_less_is_marked_and_is_no_fastest_unless_that_is_asked_for) {
  std::vector<result> all{between("multigrid", 1.9, 2.1), between("nccl", 0.9, 1.1),
                          between("mpi", 3.9, 4.1)};
  all[1].facts = known_facts{{.origin = fact::origin::nccl,
                              .driver = fact::driver::kernel_boundary,
                              .scope = fact::scope::nodes,
                              .extent = fact::extent::everything,
                              .order = fact::order::acquire}};
  const auto row_of = [&](const char* backend) {
    for (const auto& line : lines_of(format_table(all)))
      if (line.starts_with(backend)) return words_of(line);
    return words{};
  };
  EXPECT_EQ(row_of("nccl").at(2), "<");
  EXPECT_EQ(row_of("multigrid").at(2), "*");
  EXPECT_TRUE(has_word(row_of("mpi"), "2.00x"));
  EXPECT_NE(format_table(all).find("<  orders less than a barrier"), std::string::npos);
  all[1].facts->ranked_anyway = true;
  EXPECT_EQ(row_of("nccl").at(2), "*");
  EXPECT_TRUE(has_word(row_of("mpi"), "4.00x"));
}

TEST(table, what_orders_memory_inside_nodes_alone_says_so_and_is_compared_with_its_like) {
  std::vector<result> all{between("nodes", 1.9, 2.1), between("mpi", 3.9, 4.1)};
  const facts here{.origin = fact::origin::ours,
                   .driver = fact::driver::host,
                   .scope = fact::scope::nodes,
                   .extent = fact::extent::everything,
                   .order = fact::order::both};
  for (auto& one : all) one.facts = known_facts{here.over_nodes()};
  const auto text = format_table(all);
  const auto lines = lines_of(text);
  EXPECT_EQ(words_of(row_at(lines, 0)).at(2), "*");
  for (std::size_t row = 0; row < 2; ++row)
    EXPECT_NE(row_at(lines, row).find("memory inside nodes"), std::string::npos) << text;
  EXPECT_NE(text.find("memory inside nodes: between nodes it orders execution, and only what it carries"),
            std::string::npos)
      << text;
  EXPECT_EQ(marked_subject_of(all.front()), subject_of(all.front().point) + " (memory inside nodes)");
  all.front().facts = known_facts{here};
  EXPECT_EQ(marked_subject_of(all.front()), subject_of(all.front().point));
}

TEST(table, of_a_row_of_numbers_only_the_first_title_is_whole) {
  auto one = between("mpi", 0.99, 1.03);
  for (const auto* name : {"gradient_2", "gradient_16", "other_16"})
    test::add_metric(one, name, "us", better::neither, 1);
  one.metrics.front().name = "gradient_1";
  EXPECT_EQ(words_of(lines_of(format_table(std::vector{one})).at(1)),
            (words{"barrier", "gradient_1_us", "ci95", "min", "samples", "_2_us", "_16_us", "other_16_us"}));
}

TEST(table, has_a_dash_where_there_is_no_sample) {
  auto one = between("mpi", 0.99, 1.03);
  one.metrics.front().min = std::numeric_limits<double>::quiet_NaN();
  one.samples.clear();
  const auto row = words_of(lines_of(format_table(std::vector{one})).at(2));
  EXPECT_EQ(row.at(row.size() - 2), "-");
  EXPECT_EQ(row.back(), "0");
}

TEST(table, says_once_what_is_the_same_in_all_rows) {
  const auto lines =
      lines_of(format_table(std::vector{between("mpi", 0.99, 1.03), between("other", 1.99, 2.03)}));
  EXPECT_EQ(lines.at(0), "2 host members, all pass");
  EXPECT_EQ(words_of(lines.at(1)), (words{"barrier", "latency_us", "ci95", "min", "samples"}));
  const auto row = words_of(row_at(lines, 0));
  ASSERT_EQ(row.size(), 6U);
  EXPECT_EQ((words{row.begin(), row.begin() + 4}), (words{"mpi:default", "1.010", "*", "0.990..1.030"}));
  EXPECT_EQ(row[5], "50");
}

TEST(table, has_a_column_for_what_differs) {
  auto unchecked = between("other", 1.99, 2.03, 4);
  unchecked.verdict = {};
  unchecked.point.ranks = 4;
  const auto lines = lines_of(format_table(std::vector{between("mpi", 0.99, 1.03), unchecked}));
  EXPECT_EQ(words_of(lines.at(0)),
            (words{"barrier", "members", "ranks", "latency_us", "ci95", "min", "samples", "status"}));
}

TEST(table, scales_what_is_small_or_large) {
  auto titles = [](double us) {
    return lines_of(
        format_table(std::vector{between("a", us * 0.99, us * 1.01), between("b", us * 1.99, us * 2.01)}));
  };
  EXPECT_EQ(words_of(titles(0.0141)[1])[1], "latency_ns");
  EXPECT_EQ(words_of(titles(0.0141)[2])[1], "14.10");
  EXPECT_EQ(words_of(titles(12345)[1])[1], "latency_ms");
  EXPECT_EQ(words_of(titles(0.06)[1])[1], "latency_us") << "one of both is above 0.1 us";
}

TEST(table, leaves_columns_out_and_puts_long_notes_below) {
  auto noted = between("mpi", 0.99, 1.03);
  noted.notes = {
      "a note of many words that finds no room at the end of its row, whatever was left out there"};
  const auto lines = lines_of(
      format_table(std::vector{noted, between("other", 1.99, 2.03)}, detail::grouped, {.columns = 80}));
  EXPECT_EQ(lines.at(3), "    " + noted.notes[0]);
  EXPECT_EQ(words_of(lines.at(4))[0], "other:default");
  auto wide = between(std::string(50, 'x').c_str(), 0.99, 1.03);
  const auto narrow = lines_of(
      format_table(std::vector{wide, between("other", 1.99, 2.03)}, detail::grouped, {.columns = 80}));
  EXPECT_EQ(words_of(narrow.at(1)), (words{"barrier", "latency_us", "ci95"}));
}

TEST(table, marks_the_best_of_each_cell_on_a_styled_terminal) {
  const auto text = format_table(std::vector{between("slow", 2.1, 2.3), between("fast", 1.0, 1.2)},
                                 detail::grouped, {.columns = 100, .styled = true});
  EXPECT_EQ(lines_of(text).at(2).find("\x1b[1;32mfast:default"), 0U) << text;
  EXPECT_TRUE(lines_of(text).at(2).ends_with("\x1b[0m")) << text;
  EXPECT_EQ(lines_of(text).at(3).find('\x1b'), std::string::npos) << text;
}

TEST(table, the_fastest_is_marked_when_its_interval_is_apart) {
  const auto lines =
      lines_of(format_table(std::vector{between("slow", 2.1, 2.3), between("fast", 1.0, 1.2)}));
  EXPECT_EQ(words_of(row_at(lines, 0))[0], "fast:default");
  EXPECT_EQ(mark_at(lines, 0), "*");
  EXPECT_EQ(words_of(row_at(lines, 1))[0], "slow:default");
  EXPECT_TRUE(has_word(words_of(row_at(lines, 1)), "2.00x"));
  EXPECT_EQ(row_at(lines, 1).find_first_of("*~"), std::string::npos);
}

TEST(table, what_means_little_wins_nothing) {
  auto fast = between("fast", 1.0, 1.2);
  fast.doubts = {{std::string(doubt_kinds::load), 2, "4 runnable threads for 2 hardware threads"}};
  const auto text = format_table(std::vector{between("slow", 2.1, 2.3), fast});
  EXPECT_EQ(words_of(row_at(lines_of(text), 0))[0], "fast:default");
  EXPECT_EQ(text.find_first_of("*~"), std::string::npos) << text;
  const auto styled = format_table(std::vector{between("slow", 2.1, 2.3), fast}, detail::grouped,
                                   {.columns = 100, .styled = true});
  EXPECT_EQ(styled.find("\x1b[1;32m"), std::string::npos) << styled;
}

TEST(table, where_no_value_is_better_rows_stay_as_they_are) {
  std::vector rows{between("slow", 2.1, 2.3), between("fast", 1.0, 1.2), between("usual", 1.5, 1.7)};
  for (auto& one : rows) one.metrics[0].better = better::neither;
  const auto text = format_table(rows);
  for (const auto& [row, name] : {std::pair{0, "slow"}, {1, "fast"}, {2, "usual"}})
    EXPECT_EQ(words_of(row_at(lines_of(text), static_cast<std::size_t>(row)))[0],
              name + std::string(":default"));
  EXPECT_EQ(text.find("2.00x"), std::string::npos) << text;
  EXPECT_EQ(text.find_first_of("*~"), std::string::npos) << text;
}

TEST(table, no_winner_is_named_where_intervals_overlap) {
  const auto lines = lines_of(format_table(std::vector{between("a", 1.0, 1.2), between("b", 1.1, 1.3),
                                                       between("c", 1.25, 1.5), between("d", 1.05, 1.4)}));
  EXPECT_EQ(mark_at(lines, 0), "~");  // a
  EXPECT_EQ(mark_at(lines, 1), "~");  // b
  EXPECT_EQ(words_of(row_at(lines, 2))[0], "d:default");
  EXPECT_EQ(mark_at(lines, 2), "~");
  EXPECT_EQ(row_at(lines, 3).find('~'), std::string::npos);  // c overlaps b and d, not the fastest
  EXPECT_EQ(format_table(std::vector{between("a", 1.0, 1.2), between("b", 1.1, 1.3)}).find('*'),
            std::string::npos);
}

TEST(table, other_groups_are_other_cells) {
  const auto text = format_table(std::vector{between("a", 1.0, 1.1, 2), between("a", 3.0, 3.1, 4),
                                             between("b", 2.0, 2.1, 2), between("b", 2.5, 2.6, 4)});
  const auto lines = lines_of(text);
  EXPECT_EQ(mark_at(lines, 0, 3), "*");
  EXPECT_EQ(words_of(row_at(lines, 1))[0], "b:default");
  EXPECT_EQ(row_at(lines, 2), "");
  EXPECT_EQ(words_of(row_at(lines, 3))[0], "b:default");
  EXPECT_EQ(mark_at(lines, 3, 3), "*");
}

TEST(table, a_lone_result_beats_nobody) {
  const auto text = format_table(
      std::vector{between("a", 1.0, 1.1), test::waived(test::a_point("b", "default", 2), "no GPU")});
  EXPECT_EQ(text.find_first_of("*~"), std::string::npos);
}

TEST(table, status_tokens) {
  result unchecked = between("a", 1, 1.1);
  unchecked.verdict = {};
  result some = between("b", 2, 2.1);
  some.verdict.scope = verdict_scope::within_hosts;
  result alone = between("c", 3, 3.1);
  alone.verdict = {};
  alone.verdict.kind = verdict_kind::trivial;
  alone.verdict.passed = true;
  const result broken = test::failed(test::a_point("d", "default", 2), "member 1 left too early");
  const result no_gpu = test::waived(test::a_point("e", "x", 2), "no GPU here");
  const result no_gpu_either = test::waived(test::a_point("e", "x", 4), "no GPU here");
  const auto lines =
      lines_of(format_table(std::vector{unchecked, some, alone, broken, no_gpu, no_gpu_either}));
  EXPECT_NE(row_at(lines, 0).find("unchecked"), std::string::npos);
  EXPECT_NE(row_at(lines, 1).find("partial"), std::string::npos) << "no order between hosts was checked";
  EXPECT_NE(row_at(lines, 2).find("pass"), std::string::npos);
  EXPECT_EQ(words_of(row_at(lines, 3))[0], "d:default");
  EXPECT_NE(row_at(lines, 3).find("FAIL"), std::string::npos);
  EXPECT_EQ(lines[lines.size() - 3], "FAIL    d:default  member 1 left too early (members 2)");
  EXPECT_EQ(lines[lines.size() - 1], "waived  e:x  no GPU here (members 2,4)");
}

TEST(table, few_batches_are_told) {
  const auto text = format_table(std::vector{test::measured(test::a_point("a", "b", 2), 1, 1, 4)});
  EXPECT_NE(text.find("4 batches only"), std::string::npos) << text;
}

// It has a mark of its own and no interval, and whoever is slower is so beside the best of those that have
// one.
TEST(table, one_batch_neither_wins_nor_ties) {
  const auto one_batch = test::measured(test::a_point("a", "b", 2), 1, 1, 1);
  const auto text = format_table(std::vector{one_batch, between("c", 24.0, 24.1), between("d", 48.0, 48.4)});
  const auto lines = lines_of(text);
  EXPECT_NE(row_at(lines, 0).find("1 batch only"), std::string::npos) << text;
  EXPECT_EQ((words{words_of(row_at(lines, 0))[2], words_of(row_at(lines, 0))[3]}), (words{"?", "-"})) << text;
  EXPECT_EQ(mark_at(lines, 1), "*") << text;
  EXPECT_TRUE(has_word(words_of(row_at(lines, 2)), "2.00x")) << text;
  EXPECT_NE(text.find("?  one batch, or process, only"), std::string::npos) << text;
  const auto alone = format_table(std::vector{one_batch, between("c", 24.0, 24.1)});
  EXPECT_EQ(alone.find_first_of("*~"), std::string::npos) << alone;
  EXPECT_EQ(mark_at(lines_of(format_table(std::vector{one_batch})), 0), "?");
}

TEST(table, says_which_rows_mean_little_where_others_do_not) {
  std::vector results{between("mpi", 0.99, 1.03), between("other", 1.99, 2.03)};
  results[1].doubts = {{"load", 4, "4 runnable threads for 2 hardware threads"}};
  const auto one = lines_of(format_table(results));
  EXPECT_FALSE(one.at(2).ends_with("means little")) << one.at(2);
  EXPECT_TRUE(one.at(3).ends_with("means little")) << one.at(3);
  results[0].doubts = results[1].doubts;
  for (const auto& line : lines_of(format_table(results)))
    EXPECT_FALSE(line.ends_with("means little")) << line;
}

TEST(table, fits_100_columns_and_leaves_no_blanks_behind) {
  std::vector<result> results;
  for (const int members : {2, 4, 8})
    for (const char* name : {"kernel-boundary", "multigrid", "peer-reduction"}) {
      results.push_back(test::measured(test::a_point(name, "dissemination", members), 123.4 * members));
      results.back().notes = {"oversubscribed"};
    }
  for (const std::string& line : lines_of(format_table(results))) {
    EXPECT_LE(line.size(), 100U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(table, says_why_points_were_not_measured_by_reason_or_each) {
  std::vector results{between("mpi", 0.99, 1.03), test::failed(test::a_point("a", "x", 2), "left early"),
                      test::failed(test::a_point("b", "x", 2), "left early")};
  for (const char* name : {"e", "f"}) results.push_back(test::waived(test::a_point(name, "x", 2), "no GPU"));
  const auto grouped = format_table(results), every = format_table(results, detail::every);
  EXPECT_NE(
      grouped.find("\nwaived: 2 of 5 points, by reason (--verbose lists each)\n  2  no GPU: e:x, f:x\n"),
      std::string::npos)
      << grouped;
  EXPECT_NE(every.find("\nwaived  e:x  no GPU (members 2)\nwaived  f:x  no GPU (members 2)\n"),
            std::string::npos)
      << every;
  for (const auto& text : {grouped, every})
    EXPECT_NE(text.find("\nFAIL    a:x  left early (members 2)\nFAIL    b:x  left early (members 2)\n"),
              std::string::npos)
        << text;
}

TEST(table, tells_of_points_that_were_interrupted) {
  auto before = test::waived(test::a_point("e", "x", 2), "interrupted before it was measured");
  before.status = result_status::interrupted;
  for (const auto wanted : {detail::grouped, detail::every}) {
    const auto text = format_table(std::vector{between("mpi", 0.99, 1.03), before}, wanted);
    EXPECT_NE(text.find("\nended   e:x  interrupted before it was measured (members 2)\n"), std::string::npos)
        << text;
  }
}

// It was quadratic: each row looked at all rows for each further metric's unit. In time of this processor
// alone, and against a fifth of the rows: quadratic would be 25 times as much.
TEST(table, of_many_rows_with_further_metrics_is_quick) {
  auto one = between("mpi", 0.99, 1.03);
  one.metrics.push_back(one.metrics.front());
  one.metrics.back().name = "call";
  const auto seconds = [&](std::size_t rows) {
    std::vector<result> all(rows, one);
    for (std::size_t i = 0; i < rows; ++i) all[i].point.group = {static_cast<int>(i)};
    const auto began = std::clock();
    EXPECT_GT(format_table(all).size(), rows);
    return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(20'000), 12 * seconds(4'000));
}

TEST(table, nothing_and_only_waived) {
  EXPECT_EQ(format_table({}), "");
  EXPECT_EQ(format_table(std::vector{test::waived(test::a_point("e", "x", 2), "no GPU")}),
            "waived  e:x  no GPU (members 2)\n");
}

}}  // namespace mgsync
