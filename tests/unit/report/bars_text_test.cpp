#include "src/report/bars_text.hpp"

#include <gtest/gtest.h>

#include "src/report/text.hpp"

namespace mgsync { namespace {

bar_chart three() {
  return {.heading = {"three", "Three of them", ""},
          .values = {"latency (us)"},
          .bars = {{.name = "a", .parts = {1.0}, .low = 0.99, .high = 1.01},
                   {.name = "other", .parts = {2.5}, .low = 2.0, .high = 3.0},
                   {.name = "pale", .parts = {4.0}, .note = "no call", .reference = true}},
          .in_terminal = true};
}

TEST(bars_text, are_drawn_from_zero_with_their_intervals) {
  // 40 columns are left for 4 us: 10 characters a microsecond.
  EXPECT_EQ(report::to_text(three(), {.columns = 63}),
            "Three of them: latency (us)\n"
            "  a        1  ##########\n"
            "  other  2.5  ####################|---------|\n"
            "  pale     4  ........................................ no call\n");
  EXPECT_EQ(report::to_text(three(), {.columns = 63, .unicode = true}),
            "Three of them: latency (us)\n"
            "  a        1  ██████████\n"
            "  other  2.5  ████████████████████├─────────┤\n"
            "  pale     4  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ no call\n");
}

TEST(bars_text, is_never_wider_than_100_columns_and_tells_how_many_it_left_out) {
  auto chart = three();
  for (int i = 0; i < 30; ++i) chart.bars.push_back({.name = std::string(40, 'x'), .parts = {5.0 + i}});
  for (const int columns : {20, 80, 100, 300}) {
    const auto text = report::to_text(chart, {.columns = columns});
    EXPECT_NE(text.find("  and 17 more that take longer\n"), std::string::npos);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      EXPECT_LE(end - at, columns == 80 ? 80u : 100u) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(bars_text, one_that_it_left_out_is_one) {
  auto chart = three();
  while (chart.bars.size() < 17) chart.bars.push_back({.name = "x", .parts = {5}});
  EXPECT_NE(report::to_text(chart, {.columns = 80}).find("  and 1 more that takes longer\n"),
            std::string::npos);
}

TEST(bars_text, sentences_are_broken_in_a_window_only) {
  evaluation e;
  e.sentences.push_back("One word after the other, until the line of sixty columns is full, and so on; " +
                        std::string(70, 'x') + ".");
  EXPECT_EQ(report::to_text(e, {.columns = 60}), e.sentences[0] + "\n");
  EXPECT_EQ(report::to_text(e, {.columns = 60, .window = true}),
            "One word after the other, until the line of sixty columns is\nfull, and so on;\n" +
                std::string(70, 'x') + ".\n");
}

TEST(bars_text, a_text_has_three_charts_and_names_the_others) {
  evaluation e;
  for (const char* name : {"one", "two", "three", "four", "five"}) {
    auto chart = three();
    chart.heading = {name, name, ""};
    chart.in_terminal = std::string_view(name) != "two";
    e.figures.push_back(chart);
  }
  e.sentences.push_back("The end.");
  const auto text = report::to_text(e, {});
  EXPECT_EQ(text.find("two: "), std::string::npos);
  EXPECT_NE(text.find("four: latency"), std::string::npos);
  EXPECT_NE(text.find("The same of other groups and shapes: --figure five\n\nThe end.\n"), std::string::npos)
      << text;
}

}}  // namespace mgsync
