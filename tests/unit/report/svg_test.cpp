#include "src/report/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/report/canvas.hpp"
#include "src/report/time_axis.hpp"
#include "src/report/timeline_picture.hpp"
#include "tests/unit/report/count.hpp"

namespace mgsync::report { namespace {

chart two_curves() {
  return {{"gpus", "Barriers over GPUs"},
          {"GPUs"},
          {"latency (us)", true},
          {{"ours", {{1, 1.4, 1.3, 1.5, {1.35, 1.45}}, {2, 2.0, 1.9, 2.1}, {4, 2.1}}},
           {"paper", {{1, 5}, {2, 6}}, true}}};
}

TEST(svg, a_chart_has_a_mark_for_every_point_and_a_band_for_every_interval) {
  const auto text = to_svg(two_curves());
  EXPECT_EQ(count(text, "mg-mark"), 5U);
  EXPECT_EQ(count(text, "<circle"), 5U);
  const std::regex batches("class=\"mg-sample mg-l0\" d=\"M[0-9. ]+h0M[0-9. ]+h0\"");  // two of them
  EXPECT_TRUE(std::regex_search(text, batches));
  EXPECT_EQ(count(text, "class=\"mg-band"), 1U);
  EXPECT_EQ(count(text, "<path class=\"mg-line mg-l1 mg-dashed\""), 1U);
  EXPECT_NE(text.find("<title>ours: 2.1 at 4</title>"), std::string::npos);
}

TEST(svg, noise_that_reaches_below_zero_ends_where_a_logarithmic_scale_does) {
  const chart noisy{
      {"n", "Noise"},
      {"GPUs"},
      {"latency (us)", true},
      {{"noise", {{1, 0.02, -0.01, 0.05, {-0.01, 0.04}}, {2, 2.0, 1.9, 2.1}}}, {"below", {{1, -0.1}}}}};
  const auto text = to_svg(noisy);
  EXPECT_EQ(count(text, "mg-mark"), 2U);
  EXPECT_EQ(count(text, "nan") + count(text, "inf\""), 0U);
  const chart nothing{{"n", "Noise"}, {"GPUs"}, {"latency (us)", true}, {{"below", {{1, -0.1}, {2, -0.2}}}}};
  EXPECT_EQ(count(to_svg(nothing), "mg-mark"), 2U);
  const bar_chart bars{
      {"b", "Noise"}, {"us", true}, {}, {{"noise", {0.02}, -0.01, 0.05}, {"two", {2.0}, 1.9, 2.1}}};
  EXPECT_EQ(count(to_svg(bars), "nan"), 0U);
}

TEST(svg, a_heat_map_has_the_number_in_the_cell_and_a_reason_in_the_hole) {
  const heat_map map{{"map", "grid.sync"},
                     "blocks per SM",
                     "threads",
                     {"1", "32"},
                     {"32", "1024"},
                     {{1.0, 1.3}, {9.96, std::nullopt}},
                     "us",
                     {{"", ""}, {"", "64 warps do not fit"}}};
  const auto text = to_svg(map);
  EXPECT_EQ(count(text, "mg-mark"), 3U);
  EXPECT_EQ(count(text, ">1.300<"), 1U);
  EXPECT_NE(text.find("64 warps do not fit"), std::string::npos);
}

TEST(svg, stacked_bars_add_up) {
  const bar_chart bars{{"launch", "One null kernel"},
                       {"ns"},
                       {"call", "execution", "other"},
                       {{"traditional", {2545, 993, 4735}}, {"cooperative", {3388, 1015, 4830}}}};
  const auto text = to_svg(bars);
  EXPECT_EQ(count(text, "mg-mark"), 6U);
  EXPECT_NE(text.find(">8273<"), std::string::npos);
  EXPECT_NE(text.find(">9233<"), std::string::npos);
}

TEST(svg, a_timeline_has_a_row_per_track_and_of_many_a_row_for_neighbours) {
  timeline few{{"w", "warps"},
               "cycles",
               {{"warp 0", {{"store", 0, 9}, {"load", 36, 58}}}, {"warp 1", {{"store", 2, 11}}}},
               8};
  const auto text = to_svg(few);
  EXPECT_EQ(count(text, "mg-mark"), 3U);
  EXPECT_EQ(count(text, "no order is claimed"), 1U);
  EXPECT_EQ(count(text, "class=\"mg-error\""), 3U);
  for (const double longer : {1e3, 1e9}) {  // than the picture: no bar at its end
    few.uncertainty = longer;
    const auto open = to_svg(few);
    EXPECT_EQ(count(open, "class=\"mg-error\""), 2U);
    EXPECT_EQ(count(open, "x2=\"696.0\""), 1U);
  }
  few.heading.caption = "A pass. The recorder is part of it.";
  EXPECT_NE(to_svg(few).find(">A pass. The recorder is part of it.</text>"), std::string::npos);
  EXPECT_EQ(to_svg(few, {.with_style = false}).find("The recorder"), std::string::npos) << "the page says it";
  timeline many{{"b", "blocks"}, "us", {}};
  for (int i = 0; i < 528; ++i)
    many.tracks.push_back({"GPU " + std::to_string(i / 264) + " block " + std::to_string(i % 264),
                           {{"wait", i * 0.1, 100}, {"leave", 100, 101.0 + i}}});
  const auto rows = merged_rows(many, 48);
  ASSERT_EQ(rows.size(), 48U);
  EXPECT_EQ(rows[24].name, "GPU 1 block 0-10");  // 11 blocks each, none shared by two GPUs
  EXPECT_EQ(rows[0].tracks, 11U);
  EXPECT_DOUBLE_EQ(rows[0].events[0].begin, 0.5);
  EXPECT_DOUBLE_EQ(rows[0].events[1].latest, 111);
  const auto crowded = to_svg(many);
  EXPECT_EQ(count(crowded, "mg-mark"), 2 * 24U);
  EXPECT_EQ(count(crowded, "text-anchor=\"end\">GPU "), 24U);
  EXPECT_EQ(count(crowded, "24 rows for 528"), 1U);
  many.tracks[3].events.pop_back();  // what is not alike keeps a row of its own
  EXPECT_EQ(merged_rows(many, 48)[1].name, "GPU 0 block 3");
}

TEST(svg, a_long_wait_is_drawn_short_and_says_how_long_it_is) {
  timeline late{{"l", "late"},
                "ns",
                {{"a", {{"waits", 0, 100}, {"goes", 100, 250}, {"waits", 20'250, 20'400}}},
                 {"b", {{"waits", 50, 100}, {"goes", 100, 300}}}}};
  const auto text = to_svg(late);
  EXPECT_EQ(count(text, "mg-gap\">"), 1U);
  EXPECT_EQ(count(text, ">+19950</text>"), 1U);  // from 300, when b has gone, to 20250
  EXPECT_EQ(count(text, "19950 ns are left out here"), 1U);
  const time_axis axis({0, 100, 250, 300, 20'250, 20'400}, 0, 494);
  ASSERT_EQ(axis.gaps().size(), 1U);
  EXPECT_DOUBLE_EQ(axis.at(0), 0);
  EXPECT_DOUBLE_EQ(axis.at(300), 300);  // 450 pixels for 300 and 150, 44 for the gap
  EXPECT_DOUBLE_EQ(axis.at(20'250), 344);
  EXPECT_DOUBLE_EQ(axis.at(20'400), 494);
  EXPECT_TRUE(time_axis({0, 100, 250, 300, 420}, 0, 100).gaps().empty()) << "nothing is long beside the rest";
  EXPECT_TRUE(time_axis({0, 100}, 0, 100).gaps().empty()) << "the wait is all there is";
}

TEST(svg, a_slim_picture_is_narrow_and_repeats_no_mark) {
  const look slim{.with_style = false, .rows = "row-", .slim = true};
  for (const figure& one :
       {figure(two_curves()), figure(bar_chart{{"b", "Bars"}, {"us"}, {}, {{"a name", {1.5}}}})}) {
    const auto text = to_svg(one, slim);
    EXPECT_EQ(count(text, "width=\"360\""), 2U) << text;
    EXPECT_EQ(count(text, "mg-mark") + count(text, "<title>") + count(text, "<a "), 0U);
  }
  EXPECT_NE(to_svg(bar_chart{{"b", "Bars"}, {"us"}, {}, {{"a name", {1.5}}}}, slim).find(">1.5</text>"),
            std::string::npos);
}

TEST(palette, two_names_of_a_picture_share_no_colour_and_the_most_used_have_them) {
  chart all{{"c", "c"}, {"x"}, {"y"}, {}};
  for (int i = 0; i < 8; ++i) all.curves.push_back({"old " + std::to_string(i), {{1, 1}, {2, 2}}});
  chart two{{"d", "d"}, {"x"}, {"y"}, {{"new a", {{1, 1}, {2, 2}}}, {"new b", {{1, 1}, {2, 2}}}}};
  const figure first(all), again(two);
  const palette colors(palette::pictures{&first, &again, &again});
  std::set<std::size_t> seen;
  for (const auto* name : {"new a", "new b", "old 0", "old 5"}) seen.insert(colors.of(name).value());
  EXPECT_EQ(seen.size(), 4U);
  std::set<std::size_t> of_old;
  for (int i = 0; i < 8; ++i) of_old.insert(colors.of("old " + std::to_string(i)).value());
  EXPECT_EQ(of_old.size(), 8U) << "a chart of eight has all its curves coloured, two as others elsewhere";
  const palette apart(std::vector<palette::pictures>{{&first}, {&again}});
  EXPECT_TRUE(apart.of("new a") && apart.of("old 7")) << "sections have all colours each";
}

TEST(palette, the_first_of_a_ranked_picture_has_a_colour_whatever_else_is_measured) {
  chart many{{"c", "c"}, {"x"}, {"y"}, {}};
  for (int i = 0; i < 12; ++i) many.curves.push_back({"other " + std::to_string(i), {{1, 1}, {2, 2}}});
  many.curves.push_back({"answer", {{1, 1}, {2, 2}}});
  bar_chart ranking{{"r", "r"}, {"x"}};
  ranking.bars.push_back({.name = "less", .parts = {1}, .reference = true, .subject = "less"});
  ranking.bars.push_back({.name = "answer", .parts = {2}, .subject = "answer"});
  const figure ranked(ranking), curves(many);
  const palette colors(palette::pictures{&ranked, &curves});
  EXPECT_TRUE(colors.of("answer"));
  EXPECT_FALSE(colors.of("less"));
  EXPECT_FALSE(palette(palette::pictures{&curves}).of("answer"));
}

TEST(palette, names_that_meet_in_one_picture_differ_though_sections_coloured_them_apart) {
  const auto of_names = [](const std::string& kind, int count) {
    chart c{{"c", "c"}, {"x"}, {"y"}, {}};
    for (int i = 0; i < count; ++i)
      c.curves.push_back({kind + " " + std::to_string(i), {{1, 1}, {2, 2}}, false, false});
    return c;
  };
  auto both = of_names("a", 8);
  for (auto& one : of_names("b", 8).curves) both.curves.push_back(one);
  const figure many(both), others(of_names("b", 8));
  const palette colors(std::vector<palette::pictures>{{&many}, {&others}});
  std::set<std::size_t> seen;
  std::size_t with_color = 0;
  for (const auto& one : both.curves)
    if (const auto color = colors.of(one.name)) seen.insert(*color), ++with_color;
  EXPECT_EQ(seen.size(), with_color);
  EXPECT_EQ(with_color, 8U);
}

TEST(svg, names_of_categories_without_room_are_written_at_an_angle_and_none_is_left_out) {
  chart c{{"c", "c"}, {"launch"}, {"y (us)"}, {{"a", {}}}};
  for (int i = 0; i < 8; ++i) {
    c.x.categories.push_back("graph-programmatic " + std::to_string(i));
    c.curves[0].points.push_back({static_cast<double>(i), 1.0 + i});
  }
  for (const bool slim : {false, true}) {
    const auto text = to_svg(c, {.with_style = false, .slim = slim});
    EXPECT_EQ(count(text, ">graph-programm"), 8U) << text;
    EXPECT_EQ(count(text, "rotate(-30"), 8U);
  }
}

TEST(svg, hostile_names_are_only_words) {
  auto c = two_curves();
  c.heading.title = "<script>alert('x')</script>";
  c.curves[0].name = "a\" onload=\"b&";
  const auto text = to_svg(c);
  EXPECT_EQ(count(text, "<script"), 0U);
  EXPECT_EQ(count(text, "\" onload"), 0U);
  EXPECT_NE(text.find("a&quot; onload=&quot;b&amp;"), std::string::npos);
  // As in a terminal: a picture whose names are no UTF-8 is no XML.
  EXPECT_EQ(escaped("\x01\t\xff\xc2\xb5s\xef\xbf\xbf"), "\\u0001 \\u00ff\xc2\xb5s\\uffff");
}

TEST(svg, has_no_address_beside_the_namespace_and_both_themes) {
  const auto text = to_svg(two_curves());
  EXPECT_EQ(count(text, "http"), 1U);
  EXPECT_EQ(count(text, "prefers-color-scheme:dark"), 1U);
  EXPECT_EQ(count(to_svg(two_curves(), {.with_style = false}), "<style>"), 0U);
}

TEST(svg, refuses_what_a_scale_cannot_show) {
  auto c = two_curves();
  c.curves[0].points[0].y = 0;
  c.curves[0].points[0].low.reset();
  EXPECT_EQ(count(to_svg(c), "mg-mark"), 4U);  // the point is left out: a page does not end for it
  c.curves[0].points[0].y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(to_svg(c), std::invalid_argument);
  EXPECT_THROW(to_svg(chart{{"e", "empty"}, {"x"}, {"y"}, {}}), std::invalid_argument);
  EXPECT_THROW(to_svg(heat_map{{"e", "empty"}, "r", "c", {"1"}, {"1"}, {{std::nullopt}}, "us"}),
               std::invalid_argument);
  EXPECT_THROW(to_svg(timeline{{"t", "t"}, "us", {{"a", {{"back", 2, 1}}}}}), std::invalid_argument);
}

// A batch's value may be unknown, and an end of an interval; a figure's own may not.
TEST(svg, leaves_out_the_batches_that_are_no_numbers) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN(),
                   endless = std::numeric_limits<double>::infinity();
  for (const bool logarithmic : {false, true}) {
    auto c = two_curves();
    c.y.logarithmic = logarithmic;
    c.curves[0].points[0].samples = {1.35, unknown, endless, -endless, 1e300};
    c.curves[0].points[0].low = unknown;
    c.curves[0].points[1].high = endless;
    const auto text = to_svg(c);
    EXPECT_EQ(count(text, "mg-mark"), 5U);
    EXPECT_EQ(count(text, "class=\"mg-sample"), 1U);
    EXPECT_EQ(count(text, "nan") + count(text, "inf"), 0U);
  }
}

// Every pair of numbers that a result may have: a picture, or a refusal; and few enough marks to be read.
TEST(svg, of_any_numbers_comes_to_an_end) {
  std::vector<double> some{0,
                           5e-324,
                           1e-320,
                           2.2e-308,
                           1e-300,
                           1e-151,
                           1e-150,
                           1e-9,
                           1,
                           4,
                           std::nextafter(4, 5),
                           4.00000000001,
                           1e9,
                           1e149,
                           1e150,
                           1e151,
                           1e300,
                           1.5e308,
                           1.79e308,
                           std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};
  for (double up = 4; some.size() < 40; up = std::nextafter(up, 5)) some.push_back(up);
  for (const double one : std::vector(some)) some.push_back(-one);
  std::size_t drawn = 0;
  for (const double a : some)
    for (const double b : some)
      for (const bool logarithmic : {false, true}) {
        const figure all[] = {
            chart{{"c", "c"}, {"x"}, {"y", logarithmic}, {{"one", {{1, a}, {2, b, a, b, {a, b}}}}}},
            chart{{"c", "c"}, {"x", logarithmic}, {"y"}, {{"one", {{a, 1}, {b, 2}}}}},
            bar_chart{{"b", "b"}, {"y", logarithmic}, {"p", "q"}, {{"one", {a, b}, a, b}, {"two", {b}}}},
            heat_map{{"m", "m"}, "r", "c", {"1"}, {"1", "2"}, {{a, b}}, "us"},
            timeline{{"t", "t"}, "us", {{"a", {{"e", a, b}}}}, b}};
        for (const auto& each : all) try {
            const auto text = to_svg(each);
            EXPECT_EQ(count(text, "nan") + count(text, "inf"), 0U) << a << " " << b;
            EXPECT_LT(count(text, "mg-grid"), 60U) << a << " " << b;
            ++drawn;
          } catch (const std::invalid_argument&) {}
      }
  EXPECT_GT(drawn, 20000U);
}

// Words that lie on others or beyond the edge, with a letter half as wide as it is high.
std::vector<std::string> misplaced_words(const std::string& svg) {
  struct box {
    std::string words;
    double left, top, right, bottom;
  };
  std::vector<box> seen;
  std::vector<std::string> wrong;
  std::smatch size;
  std::regex_search(svg, size, std::regex("viewBox=\"0 0 (\\d+) (\\d+)\""));
  const std::regex text("<text x=\"([^\"]+)\" y=\"([^\"]+)\" class=\"([^\"]+)\"(?: text-anchor=\"([a-z]+)\")?"
                        "(?: transform=\"rotate.([-0-9]+)[^\"]*\")?>([^<]*)<");
  for (std::sregex_iterator at(svg.begin(), svg.end(), text), end; at != end; ++at) {
    const auto& m = *at;
    const double x = std::stod(m[1]), y = std::stod(m[2]),
                 high = m[3] == "mg-title"  ? 15
                        : m[3] == "mg-text" ? 12
                                            : 11;
    const double wide = width_of(m[6].str(), high / 2), half = wide / 2;
    const double left = m[4] == "middle" ? x - half : m[4] == "end" ? x - wide : x;
    if (m[5] == "-30") continue;
    const box one = m[5] == "-90" ? box{m[6], x - 0.8 * high, y - half, x + 0.2 * high, y + half}
                                  : box{m[6], left, y - 0.75 * high, left + wide, y + 0.2 * high};
    if (one.left < 0 || one.top < 0 || one.right > std::stod(size[1]) || one.bottom > std::stod(size[2]))
      wrong.push_back(one.words + " beyond the edge");
    for (const auto& other : seen)
      if (one.left < other.right && other.left < one.right && one.top < other.bottom &&
          other.top < one.bottom)
        wrong.push_back(one.words + " on " + other.words);
    seen.push_back(one);
  }
  return wrong;
}

TEST(svg, words_do_not_collide_however_long_and_many_they_are) {
  const std::string longest(80, 'w');
  chart lines{{"c", "crowded " + longest}, {longest + " (us)"}, {longest + " (us)", true}, {}};
  bar_chart bars{{"b", "bars"}, {longest + " (us)"}, {}, {}};
  heat_map map{{"m", "map"}, "a label that is longer than one row is high", "threads", {}, {}, {}, "us"};
  timeline line{{"t", "timeline"}, "us", {}, 60};
  for (int i = 0; i < 8; ++i) {
    const auto name = std::to_string(i) + longest;
    lines.curves.push_back({name, {{1, 1e-120 + i}, {1000000 + i * 1.0, 1e9}}});
    bars.bars.push_back({name, {1.5e6 * i}, {}, {}, longest});
    line.tracks.push_back({name, {{"wait" + name, 0, 100}}});
    map.columns.push_back(std::to_string(1 << i));
  }
  map.rows = {longest};
  map.values = {{1.234e-7, 2.345e9, 3e8, 4e8, 5e8, 6e8, 7e8, 8e8}};
  for (const figure& each : {figure(lines), figure(bars), figure(map), figure(line)})
    EXPECT_EQ(misplaced_words(to_svg(each)), std::vector<std::string>()) << heading_of(each).name;
  EXPECT_EQ(misplaced_words("<svg viewBox=\"0 0 99 99\"><text x=\"9\" y=\"9\" class=\"mg-soft\">ab</text>"
                            "<text x=\"11\" y=\"9\" class=\"mg-soft\">c</text>"),
            std::vector<std::string>{"c on ab"});
}

TEST(svg, a_name_has_one_colour_in_all_pictures_of_a_page) {
  const auto of_names = [](const std::vector<std::string>& names) {
    chart c{{"c", "c"}, {"x"}, {"y"}, {}};
    for (const auto& name : names) c.curves.push_back({name, {{1, 1}, {2, 2}}});
    return figure(c);
  };
  const figure first = of_names({"a", "b"}), second = of_names({"c", "b", "d"}), third = of_names({"a", "d"}),
               bars = bar_chart{{"b", "b"}, {"y"}, {}, {{"x", {1}, {}, {}, {}, false, {}, "d"}, {"y", {1}}}};
  const palette colors({&first, &second, &third, &bars});
  std::map<std::string, std::size_t> of;
  for (const auto* name : {"a", "b", "c", "d"}) of[name] = colors.of(name).value();
  EXPECT_EQ(of["a"], 0U);
  EXPECT_TRUE(of["a"] != of["b"] && of["c"] != of["b"] && of["d"] != of["b"] && of["d"] != of["c"] &&
              of["d"] != of["a"]);
  EXPECT_FALSE(colors.of("e"));
  const auto drawn = to_svg(bars, {.with_style = false, .colors = &colors});
  EXPECT_EQ(count(drawn, of_color("f", of["d"])), 1U) << "a bar of a subject has its colour";
  EXPECT_EQ(count(drawn, "mg-plain"), 1U);
}

TEST(svg, each_mark_of_a_bar_looks_its_own_way_and_is_told_below) {
  bar_chart bars{.heading = {"b", "Bars"},
                 .values = {"us"},
                 .bars = {{.name = "full", .parts = {4}, .subject = "known"},
                          {.name = "no call", .parts = {3}, .subject = "known", .marks = {.hollow = true}},
                          {.name = "less", .parts = {2}, .marks = {.pale = true}},
                          {.name = "both", .parts = {2}, .marks = {.hollow = true, .pale = true}},
                          {.name = "unchecked", .parts = {1}, .marks = {.dashed = true}}},
                 .legend = {{{.hollow = true}, "nobody calls it"}, {{.pale = true}, "orders less"}}};
  const figure of_names = chart{{"c", "c"}, {"x"}, {"y"}, {{"known", {{1, 1}, {2, 2}}}}}, whole = bars;
  const palette colors(palette::pictures{&of_names, &whole});
  for (const bool slim : {false, true}) {
    const auto text = to_svg(bars, {.with_style = false, .colors = &colors, .slim = slim});
    const std::string mark = slim ? "class=\"" : "class=\"mg-mark ";
    EXPECT_EQ(count(text, mark + "mg-f0\""), 1U);
    EXPECT_EQ(count(text, mark + "mg-l0\" fill=\"transparent\""), 1U) << "an outline has the colour too";
    EXPECT_EQ(count(text, "mg-plain mg-reference\""), 2U) << "the bar, and its mark in the legend";
    EXPECT_EQ(count(text, mark + "mg-plain mg-reference mg-axis\""), 1U);
    EXPECT_EQ(count(text, mark + "mg-axis mg-dashed\" fill=\"transparent\""), 1U);
    for (const char* words : {">nobody calls it<", ">orders less<"})
      EXPECT_EQ(count(text, words), 1U) << words;
  }
  bars.legend.clear();
  EXPECT_EQ(count(to_svg(bars), ">orders less<"), 0U);
}

TEST(readable, has_four_digits) {
  EXPECT_EQ(readable(1.39421), "1.394");
  EXPECT_EQ(readable(20), "20");
  EXPECT_EQ(readable(0.0571), "0.0571");
  EXPECT_EQ(readable(8273), "8273");
  EXPECT_EQ(readable(1.3, true), "1.300");
  EXPECT_EQ(readable(0), "0");
  EXPECT_EQ(readable(4.31e12), "4.31e+12");
  EXPECT_EQ(readable(std::numeric_limits<double>::quiet_NaN()), "-");
}

}}  // namespace mgsync::report
