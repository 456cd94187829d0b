#include "src/results/frame/results_table.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(row_of("nccl").at(6), "<");
  EXPECT_EQ(row_of("multigrid").at(6), "*");
  EXPECT_EQ(row_of("mpi").back(), "2.00x");
  EXPECT_NE(format_table(all).find("<  orders less than a barrier"), std::string::npos);
  all[1].facts->ranked_anyway = true;
  EXPECT_EQ(row_of("nccl").at(6), "*");
  EXPECT_EQ(row_of("mpi").back(), "4.00x");
}

TEST(table, columns_are_stable) {
  const auto lines = lines_of(format_table(std::vector{between("mpi", 0.99, 1.03)}));
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(words_of(lines[0]), (words{"backend", "variant", "members", "ranks", "shape", "latency_us",
                                       "ci95", "min", "samples", "status", "note"}));
  const auto row = words_of(lines[1]);
  ASSERT_EQ(row.size(), 10U);
  EXPECT_EQ((words{row.begin(), row.begin() + 7}),
            (words{"mpi", "default", "2", "1", "1", "1.010", "0.990..1.030"}));
  EXPECT_EQ(row[8], "50");
  EXPECT_EQ(row[9], "pass");
}

TEST(table, the_fastest_is_marked_when_its_interval_is_apart) {
  const auto lines =
      lines_of(format_table(std::vector{between("slow", 2.1, 2.3), between("fast", 1.0, 1.2)}));
  EXPECT_EQ(words_of(lines[1])[0], "fast");
  EXPECT_EQ(words_of(lines[1])[6], "*");
  EXPECT_EQ(words_of(lines[2])[0], "slow");
  EXPECT_EQ(words_of(lines[2]).back(), "2.00x");
  EXPECT_EQ(lines[2].find_first_of("*~"), std::string::npos);
}

TEST(table, no_winner_is_named_where_intervals_overlap) {
  const auto lines = lines_of(format_table(std::vector{between("a", 1.0, 1.2), between("b", 1.1, 1.3),
                                                       between("c", 1.25, 1.5), between("d", 1.05, 1.4)}));
  ASSERT_GE(lines.size(), 5U);
  EXPECT_EQ(words_of(lines[1])[6], "~");  // a
  EXPECT_EQ(words_of(lines[2])[6], "~");  // b
  EXPECT_EQ(words_of(lines[3])[0], "d");
  EXPECT_EQ(words_of(lines[3])[6], "~");
  EXPECT_EQ(lines[4].find('~'), std::string::npos);  // c overlaps b and d, not the fastest
  EXPECT_EQ(format_table(std::vector{between("a", 1.0, 1.2), between("b", 1.1, 1.3)}).find('*'),
            std::string::npos);
}

TEST(table, other_groups_are_other_cells) {
  const auto text = format_table(std::vector{between("a", 1.0, 1.1, 2), between("a", 3.0, 3.1, 4),
                                             between("b", 2.0, 2.1, 2), between("b", 2.5, 2.6, 4)});
  const auto lines = lines_of(text);
  EXPECT_EQ(words_of(lines[1])[6], "*");
  EXPECT_EQ(words_of(lines[2])[0], "b");
  EXPECT_EQ(lines[3], "");
  EXPECT_EQ(words_of(lines[4])[0], "b");
  EXPECT_EQ(words_of(lines[4])[6], "*");
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
  EXPECT_NE(lines[1].find("unchecked"), std::string::npos);
  EXPECT_NE(lines[2].find("partial"), std::string::npos) << "no order between hosts was checked";
  EXPECT_NE(lines[3].find("pass"), std::string::npos);
  EXPECT_EQ(words_of(lines[4])[0], "d");
  EXPECT_NE(lines[4].find("FAIL"), std::string::npos);
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
  EXPECT_NE(lines[1].find("1 batch only"), std::string::npos) << text;
  EXPECT_EQ((words{words_of(lines[1])[6], words_of(lines[1])[7]}), (words{"?", "-"})) << text;
  EXPECT_EQ(words_of(lines[2])[6], "*") << text;
  EXPECT_EQ(words_of(lines[3]).back(), "2.00x") << text;
  EXPECT_NE(text.find("?  one batch, or process, only"), std::string::npos) << text;
  const auto alone = format_table(std::vector{one_batch, between("c", 24.0, 24.1)});
  EXPECT_EQ(alone.find_first_of("*~"), std::string::npos) << alone;
  EXPECT_EQ(words_of(lines_of(format_table(std::vector{one_batch}))[1])[6], "?");
}

TEST(table, fits_120_columns_and_leaves_no_blanks_behind) {
  std::vector<result> results;
  for (const int members : {2, 4, 8})
    for (const char* name : {"kernel-boundary", "multigrid", "peer-reduction"}) {
      results.push_back(test::measured(test::a_point(name, "dissemination", members), 123.4 * members));
      results.back().notes = {"oversubscribed"};
    }
  for (const std::string& line : lines_of(format_table(results))) {
    EXPECT_LE(line.size(), 120U) << line;
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

TEST(table, nothing_and_only_waived) {
  EXPECT_EQ(format_table({}), "");
  EXPECT_EQ(format_table(std::vector{test::waived(test::a_point("e", "x", 2), "no GPU")}),
            "waived  e:x  no GPU (members 2)\n");
}

}}  // namespace mgsync
