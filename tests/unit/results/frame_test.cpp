#include "src/results/frame/frame.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "made_up_results.hpp"
#include "src/results/frame/figure.hpp"
#include "src/results/frame/lines.hpp"
#include "src/results/frame/paper_numbers.hpp"

namespace mgsync { namespace {

using words = std::vector<std::string>;

struct car {
  std::string name, colour;
  int doors = 0;
  double speed = 0;
};
const std::vector<car> cars{
    {"a", "red", 2, 10}, {"b", "blue", 4, 30}, {"c", "red", 4, 20}, {"d", "red", 4, 30}};
const auto is_red = [](const car& one) { return one.colour == "red"; };
const auto has_four = [](const car& one) { return one.doors == 4; };

words names_of(const frame<car>& some) {
  words all;
  for (const auto* one : some) all.push_back(one->name);
  return all;
}

TEST(frame, where_takes_the_rows_of_which_all_conditions_hold) {
  EXPECT_EQ(names_of(where(cars, is_red, has_four)), (words{"c", "d"}));
  EXPECT_EQ(names_of(where(where(cars, is_red), has_four)), (words{"c", "d"})) << "a frame has rows too";
  EXPECT_EQ(first(cars, has_four)->name, "b");
  EXPECT_EQ(first(cars, [](const car& one) { return one.speed > 99; }), nullptr);
}

TEST(frame, least_and_most_take_the_first_of_equal_ones) {
  EXPECT_EQ(least(cars, &car::speed)->name, "a");
  EXPECT_EQ(most(cars, &car::speed)->name, "b");
  EXPECT_EQ(least(where(cars, [](const car&) { return false; }), &car::speed), nullptr);
  EXPECT_EQ(most(cars, [](const car& one) { return one.name == "a" ? 0u : 1u; })->name, "b")
      << "of numbers without a sign too";
  const auto slowest = least_by(cars, &car::doors, &car::speed);
  ASSERT_EQ(slowest.size(), 2u);
  EXPECT_EQ(slowest.at(2)->name, "a");
  EXPECT_EQ(slowest.at(4)->name, "c");
}

TEST(frame, keys_have_the_order_of_the_rows) {
  EXPECT_EQ(keys(cars, &car::colour), (words{"red", "blue"}));
  EXPECT_EQ(keys(cars, &car::doors), (std::vector{2, 4}));
  const auto colours = groups(cars, &car::colour);
  ASSERT_EQ(colours.size(), 2u);
  EXPECT_EQ(colours[0].first, "red");
  EXPECT_EQ(names_of(colours[0].second), (words{"a", "c", "d"}));
  EXPECT_EQ(names_of(colours[1].second), (words{"b"}));
}

TEST(frame, join_pairs_rows_of_equal_keys_and_tells_the_others) {
  const std::vector<car> others{{"b", "white"}, {"e", "white"}, {"a", "white"}, {"a", "black"}};
  const auto all = join(cars, others, &car::name);
  ASSERT_EQ(all.both.size(), 2u);
  EXPECT_EQ(all.both[0].first->colour + all.both[0].second->colour, "redblack") << "of several the last";
  EXPECT_EQ(all.both[1].first->colour + all.both[1].second->colour, "bluewhite");
  EXPECT_EQ(names_of(all.left), (words{"c", "d"}));
  EXPECT_EQ(names_of(all.right), (words{"e"}));
}

TEST(frame, by_groups_and_pivot_has_a_line_for_each_key) {
  const auto colours = by(cars, &car::colour);
  ASSERT_EQ(colours.size(), 2u);
  EXPECT_EQ(names_of(colours.at("red")), (words{"a", "c", "d"}));
  EXPECT_EQ(one_by(cars, &car::colour).at("red")->name, "d");
  const auto lines = pivot(cars, &car::colour, &car::doors);
  EXPECT_EQ(at(lines.at("red"), 4)->name, "d");
  EXPECT_EQ(at(lines.at("blue"), 2), nullptr);
  EXPECT_EQ(at(lines, "green"), nullptr);
}

TEST(frame, a_ratio_needs_both) {
  EXPECT_EQ(ratio(3, 2), 1.5);
  EXPECT_EQ(ratio(std::nullopt, 2), std::nullopt);
  EXPECT_EQ(ratio(3, std::nullopt), std::nullopt);
  EXPECT_EQ(ratio(3, 0), std::nullopt);
}

TEST(frame, a_result_is_shown_to_be_less_by_intervals_and_between_files_by_a_margin_too) {
  const auto of = [](double low, double high) {
    auto one = test::measured(test::hub, high);
    one.metrics.front().ci95_low = low, one.metrics.front().ci95_high = high;
    return one;
  };
  const auto less = of(1.0, 1.01);
  auto more = of(1.03, 1.04);
  EXPECT_TRUE(is_shown_less(less, more));
  EXPECT_FALSE(is_shown_less(more, less));
  EXPECT_FALSE(is_shown_less(less, of(1.005, 1.04))) << "they overlap";
  more.file = 1;
  EXPECT_FALSE(is_shown_less(less, more)) << "one point differs by up to 4 % between two processes";
  const auto alone = test::measured(test::hub, 1, 1, 1), slow_alone = test::measured(test::hub, 9, 1, 1);
  EXPECT_FALSE(is_shown_less(alone, of(1.5, 1.6)) || is_shown_less(less, slow_alone)) << "of one batch";
}

TEST(frame, what_is_of_few_batches_says_so) {
  EXPECT_EQ(few_batches_of(test::measured(test::hub, 1, 1, 1)), "1 batch only");
  EXPECT_EQ(few_batches_of(test::measured(test::hub, 1, 1, 2)), "2 batches only");
  EXPECT_EQ(few_batches_of(test::measured(test::hub, 1)), "");
  auto of_processes = test::measured(test::hub, 1, 1, 2);
  of_processes.environment["processes"] = "2";
  EXPECT_EQ(few_batches_of(of_processes), "2 processes only");
}

TEST(table, columns_write_what_rows_hold) {
  metric m;
  m.median = 2, m.ci95_low = 1, m.ci95_high = 3;
  const metric* const none = nullptr;
  table t{{"t", "T"}, {"words", "count | >", "time, us | .2f", "share | .1f %"}};
  EXPECT_EQ(t.columns[2].title, "time, us");
  EXPECT_FALSE(t.columns[0].is_right());
  EXPECT_TRUE(t.columns[1].is_right());
  t.add({"a", 3, 1.0, 0.5}, "source");
  t.add({std::string_view("b"), 0.25, &m, std::optional(1.0)});
  t.add({std::string("c"), "as it is", ci95_of(m, 10), noted{0.5, "(why)"}});
  t.add({missing{"no code"}, std::nullopt, none, std::numeric_limits<double>::quiet_NaN()});
  t.add({"e", std::optional<int>(), range{1, 2, " to "}, missing{}});
  EXPECT_EQ(t.rows[0], (words{"a", "3", "1.00", "50.0 %"}));
  EXPECT_EQ(t.rows[1], (words{"b", "0.25", "2.00", "100.0 %"}));
  EXPECT_EQ(t.rows[2], (words{"c", "as it is", "10.00 - 30.00", "50.0 % (why)"}));
  EXPECT_EQ(t.rows[3], (words{"no code", "-", "-", "-"}));
  EXPECT_EQ(t.rows[4], (words{"e", "-", "1.00 to 2.00", "-"}));
  EXPECT_EQ(t.sources, (words{"source", "", "", "", ""}));
  m.raw = {2};
  EXPECT_EQ(ci95_of(m).text(t.columns[2]), "one batch");
  EXPECT_THROW(t.add({"too", "few"}), std::invalid_argument);
}

TEST(table, lines_are_as_wide_as_the_widest_word) {
  const auto lines = aligned_lines({"name", "n | >", {"", "", 1}}, {{"é", "10", ""}, {"abcdef", "2", "*"}});
  EXPECT_EQ(lines, (words{"name     n\n", "é       10\n", "abcdef   2 *\n"}));
}

TEST(evaluation, has_no_table_without_rows) {
  evaluation e;
  e.add(table{{"empty", "Empty"}, {"a", "b"}});
  e.add({"none", "None"}, expectations{});
  EXPECT_TRUE(e.tables.empty());
}

TEST(expectations, stand_in_a_table_with_what_came_of_them) {
  evaluation e;
  e.add({"claims", "What must hold"}, {{"it is fast", "2 us", "1 us", true},
                                       {"it is cheap", "1", "2", false},
                                       {"it is blue", "", "red", std::nullopt, "nobody says so"}});
  ASSERT_EQ(e.tables.size(), 1u);
  EXPECT_EQ(e.tables[0].rows[0], (words{"it is fast", "2 us", "1 us", "holds"}));
  EXPECT_EQ(e.tables[0].rows[1].back(), "DOES NOT HOLD");
  EXPECT_EQ(e.tables[0].rows[2].back(), "not judged: nobody says so");
  EXPECT_EQ(e.expectations.size(), 3u);
}

TEST(expectations, of_missing_inputs_say_why_they_cannot_be_judged) {
  result two, three, waived, failed;
  for (auto* const r : {&two, &three}) r->status = result_status::measured, r->metrics.emplace_back();
  two.metrics[0].median = 2, three.metrics[0].median = 3;
  waived.reason = "it takes 2 GPUs";
  failed.status = result_status::failed;
  const auto judge = [](std::span<const double> v) {
    return judgement{fmt::format("{:.1f}", v[0] / v[1]), v[0] < v[1]};
  };
  expectations all;
  expect(all, "less", "1", {input_of(&two, "two"), input_of(&three, "three")}, judge);
  expect(all, "more", "1", {input_of(&three, "three"), input_of(&two, "two")}, judge);
  expect(all, "other", "1", {input_of(nullptr, "one"), input_of(&two, "two"), input_of(&waived, "many")},
         judge);
  expect(all, "nothing", "1", {input_of(nullptr, "one"), input_of(&failed, "bad")}, judge);
  ASSERT_EQ(all.size(), 3u) << "nothing was measured of the last";
  EXPECT_EQ(all[0].seen + " " + all[0].outcome(), "0.7 holds");
  EXPECT_EQ(all[1].seen + " " + all[1].outcome(), "1.5 DOES NOT HOLD");
  EXPECT_EQ(all[2].seen, "-");
  EXPECT_EQ(all[2].outcome(), "not judged: one was not measured here; many: it takes 2 GPUs");
  EXPECT_EQ(why_not(failed), "it was violated");
  two.metrics.clear();
  EXPECT_EQ(why_not(two), "its values are missing");
}

TEST(expectations, show_on_which_side_of_a_limit_a_value_lies) {
  EXPECT_EQ(shown_beside(0.1, 0.05, 2), "0.05");
  EXPECT_EQ(shown_beside(0.1, 0.1, 2), "0.10");
  EXPECT_EQ(shown_beside(0.1, 0.099, 2), "0.10") << "not beyond";
  EXPECT_EQ(shown_beside(0.1, 0.1003, 2), "0.1003");
  EXPECT_EQ(shown_beside(1, 1.94, 2), "1.94");
  EXPECT_EQ(shown_beside(1, 0.9999999999999, 0), "1");
}

TEST(lines, are_fitted_and_followed) {
  const auto line = fit_line(std::vector{1.0, 2.0, 3.0}, std::vector{12.0, 14.0, 16.0});
  EXPECT_NEAR(line.slope, 2, 1e-12);
  EXPECT_NEAR(line.offset, 10, 1e-12);
  EXPECT_THROW(fit_line(std::vector{1.0, 1.0}, std::vector{1.0, 2.0}), std::invalid_argument);
  const std::map<double, double> curve{{1, 10}, {4, 40}, {16, 40}};
  EXPECT_NEAR(*between_points(curve, 2), 20, 1e-9);
  EXPECT_EQ(between_points(curve, 4), 40);
  EXPECT_NEAR(*between_points(curve, 8), 40, 1e-9);
  EXPECT_EQ(between_points(curve, 0.5), std::nullopt);
  EXPECT_EQ(between_points(curve, 17), std::nullopt);
}

TEST(paper_numbers, are_found_by_their_words) {
  const auto* one = published("000", "table III", "32", "V100", "bandwidth");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->value, 19.6);
  EXPECT_EQ(one->quoted, "19.6");
  EXPECT_EQ(one->unit, "B/cycle");
  EXPECT_EQ(published("000", "table III", "33", "V100", "bandwidth"), nullptr);
  EXPECT_EQ(number_of("001", "table 4", "TILE *", "P100", "throughput of size 1"), 2.89);
  EXPECT_THROW(number_of("000", "table III", "33", "V100", "bandwidth"), std::out_of_range);
}

TEST(paper_numbers, are_what_is_quoted_and_stand_once) {
  std::set<words> keys;
  for (const auto& one : paper_numbers()) {
    EXPECT_TRUE(keys.insert({one.paper, one.place, one.row, one.machine, one.quantity}).second)
        << one.place << " " << one.row << " " << one.quantity;
    EXPECT_FALSE(one.unit.empty());
    if (one.quoted.empty()) continue;  // of a figure
    const auto at = one.quoted.find(fmt::format("{}", one.value));
    EXPECT_NE(at, std::string::npos) << one.value << " is not in '" << one.quoted << "'";
  }
  EXPECT_GT(keys.size(), 100u);
}

TEST(paper_numbers, of_another_form_are_refused) {
  const std::string head = "paper,place,row,machine,quantity,unit,value,quoted\n";
  EXPECT_EQ(read_paper_numbers(head + "000,text,a,V100,latency,us,1.5,1.5\n").at(0).value, 1.5);
  for (const auto* wrong : {"000,text,a,V100,latency,us,1.5\n", "000,text,a,V100,latency,us,x,1.5\n", "\n"})
    EXPECT_THROW(read_paper_numbers(head + wrong), std::runtime_error) << wrong;
  EXPECT_THROW(read_paper_numbers("paper,place\n"), std::runtime_error);
}

}}  // namespace mgsync
