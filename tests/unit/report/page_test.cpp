#include "src/report/page.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/base/content_hash.hpp"
#include "src/base/markup.hpp"
#include "src/report/reading.hpp"
#include "tests/unit/report/count.hpp"

namespace mgsync::report { namespace {

result measured(int members, double threads, const std::string& variant) {
  result r;
  r.point.subject = "multigrid";
  r.point.variant = variant;
  r.point.device = topology::device::gpu;
  r.point.members = members;
  r.point.set("blocks_per_sm", 1.0);
  r.point.set("threads_per_block", threads);
  r.status = result_status::measured;
  r.verdict.passed = true;
  r.metrics.push_back(
      summarize_batches({"latency", "us"}, {{1.1}, {1.2}, {1.3}, {1.25}, {1.15}, {1.4}, {1.35}, {1.45}}));
  return r;
}

page page_of(const std::vector<result>& all) {
  page p{"Barriers", "2 files", {"verdict", "", {{"it works"}, {}, {}}, {}, "m1-"}};
  chart c{{"gpus", "Over GPUs"}, {"GPUs"}, {"us"}, {{"ours", {}}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto id = "m1-" + short_key(all[i].point);
    p.rows.push_back({&all[i], 0, id});
    c.curves[0].points.push_back({static_cast<double>(i),
                                  all[i].metrics.empty() ? 1.0 : all[i].metrics.front().median,
                                  {},
                                  {},
                                  {},
                                  "",
                                  short_key(all[i].point)});
  }
  p.sections.push_back({"m1-barriers", "Barriers", {{}, {}, {c}}, {"mgsync --gpus 4"}, "m1-"});
  p.sections.push_back({"m1-nothing", "Nothing here", {}, {}, ""});
  p.files.push_back({"a.json", {"mgsync --json a.json"}, "2026-01-01T00:00:00Z", "complete", {}});
  p.written = "mgsync";
  return p;
}

TEST(content_hash, agrees_with_the_standard) {
  EXPECT_EQ(content_hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");  // FIPS 180-4
  EXPECT_EQ(content_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(content_hash(std::string(1000, 'a')), "sha256-Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM=");
  EXPECT_EQ(base64("Ma"), "TWE=");
  EXPECT_EQ(base64("M"), "TQ==");
}

TEST(page, every_link_leads_somewhere_and_no_id_stands_twice) {
  const std::vector<result> all{measured(1, 32, "auto"), measured(2, 32, "auto"), measured(2, 64, "vendor")};
  const auto html = to_html(page_of(all));
  std::set<std::string> ids;
  const std::regex id(" id=\"([^\"]+)\""), link("href=\"#([^\"]+)\"");
  for (std::sregex_iterator at(html.begin(), html.end(), id), end; at != end; ++at)
    EXPECT_TRUE(ids.insert((*at)[1]).second) << (*at)[1];
  std::size_t links = 0;
  for (std::sregex_iterator at(html.begin(), html.end(), link), end; at != end; ++at, ++links)
    EXPECT_TRUE(ids.contains((*at)[1])) << (*at)[1];
  EXPECT_GE(links, 3U + 3U + 2U);  // marks, the table of their numbers, contents
  EXPECT_EQ(count(html, "mg-mark"), 3U + count(page_style(), "mg-mark"));
  EXPECT_EQ(count(html, "Nothing here"), 0U);
}

TEST(page, names_its_style_and_script_by_hash_and_loads_nothing) {
  const std::vector<result> all{measured(1, 32, "auto")};
  const auto html = to_html(page_of(all));
  EXPECT_NE(html.find("default-src 'none'; style-src '" + content_hash(page_style()) + "'; script-src '" +
                      content_hash(page_script()) + "'"),
            std::string::npos);
  EXPECT_EQ(count(html, " src="), 0U);
  EXPECT_EQ(count(html, "<link"), 0U);
  EXPECT_EQ(count(html, " style=\""), 0U);
  EXPECT_EQ(count(html, "@import"), 0U);
  EXPECT_EQ(count(html, "url("), 0U);
}

TEST(page, says_what_its_words_mean) {
  const auto html = to_html(page_of({measured(1, 32, "idle")}));
  const auto glossary = html.substr(html.find("<details id=\"glossary\""));
  EXPECT_GE(count(glossary, "<dt>"), 50U);
  EXPECT_EQ(count(glossary, "<dt>"), count(glossary, "<dd>"));
  EXPECT_EQ(count(glossary, "<dt>positive control</dt><dd>a subject broken on purpose"), 1U);
  EXPECT_EQ(count(glossary, "**"), 0U);
}

TEST(page, has_its_words_before_all_else_and_the_contents_name_them) {
  const auto html = to_html(page_of({measured(1, 32, "auto")}));
  EXPECT_LT(html.find("<details id=\"glossary\""), html.find("<section id=\"verdict\""));
  const auto contents = html.substr(html.find("<nav"), html.find("</nav>") - html.find("<nav"));
  EXPECT_LT(contents.find("href=\"#glossary\""), contents.find("href=\"#m1-barriers\""));
  EXPECT_EQ(count(contents, "#program"), 0U) << "nothing on this page is called";
  EXPECT_EQ(count(html, "id=\"program\""), 0U);
}

TEST(page, that_names_the_librarys_call_has_a_program_to_paste) {
  const std::vector<result> all{measured(1, 32, "auto")};
  auto p = page_of(all);
  p.verdict.shown.sentences = {"To call it: sync() of mgsync::this_multi_grid(handle) (<a header>)."};
  const auto html = to_html(p);
  EXPECT_EQ(
      count(html, "sync() of <a href=\"#program\">mgsync::this_multi_grid(handle</a>) (&lt;a header&gt;)"),
      1U);
  const auto from = html.find("<details id=\"program\"");
  ASSERT_NE(from, std::string::npos);
  EXPECT_LT(from, html.find("<section id=\"verdict\""));
  const auto program = html.substr(from, html.find("</details>", from) - from);
  for (const char* words : {"#include &lt;mgsync/multi_grid.cuh&gt;",
                            "__global__ void kernel(const __grid_constant__ mgsync::multi_grid_handle handle",
                            "mgsync::this_multi_grid(handle);", "mgsync::multi_grid grids(",
                            "grids.launch(kernel, ", "grids.wait();", "<pre>nvcc -std=c++17 "})
    EXPECT_EQ(count(program, words), 1U) << words;
  EXPECT_EQ(count(html, "<li><a href=\"#program\">How to call it</a></li>"), 1U);
}

TEST(page, tells_a_finding_in_parts_in_the_place_of_its_sentences) {
  const std::vector<result> all{measured(1, 32, "auto")};
  auto p = page_of(all);
  auto& shown = p.verdict.shown;
  shown.sentences = {"the headline", "the node is normal", "all of it in one sentence", "the end"};
  shown.in_parts = {
      {{"the headline", "all of it in one sentence"},
       "Take <it>.",
       {{"how sure", "95 % interval 1 - 2"}, {"runners-up", "of mgsync::this_multi_grid(handle)"}}}};
  const auto html = to_html(p);
  EXPECT_EQ(
      count(html,
            "<section id=\"verdict\" class=\"verdict\">\n<div class=\"in-parts\"><p>Take &lt;it&gt;.</p>\n"
            "<dl><dt>how sure</dt><dd>95 % interval 1 - 2</dd>\n<dt>runners-up</dt><dd>of <a "),
      1U);
  for (const char* words : {"<p>the headline</p>", "<p>all of it in one sentence</p>"})
    EXPECT_EQ(count(html, words), 0U);
  EXPECT_LT(html.find("<div class=\"in-parts\">"), html.find("<p>the node is normal</p>"));
  EXPECT_LT(html.find("<p>the node is normal</p>"), html.find("<p>the end</p>"));
  p.verdict.shown.sentences.clear();
  p.sections.front().above = {"all of it in one sentence", "the headline"};
  EXPECT_EQ(count(to_html(by_section(p).front()), "<div class=\"in-parts\">"), 0U)
      << "a part without its sentence";
}

TEST(page, says_which_barrier_each_colour_of_its_bars_is) {
  const std::vector<result> all{measured(1, 32, "auto")};
  auto p = page_of(all);
  p.sections.front().shown.figures.emplace_back(
      bar_chart{.heading = {"ranked-gpu-1", "Ranked"},
                .values = {"us"},
                .bars = {{.name = "ours", .parts = {1.0}, .subject = "ours"},
                         {.name = "b", .parts = {2.0}, .subject = "b"}},
                .in_terminal = true});
  const auto html = to_html(p);
  const auto from = html.find("<p class=\"soft colors\">");
  ASSERT_NE(from, std::string::npos);
  EXPECT_GT(from, html.find("data-figure=\"ranked-gpu-1\""));
  const auto colors = html.substr(from, html.find("</p>", from) - from);
  EXPECT_EQ(count(colors, "class=\"mg-f0\"/></svg>ours</span>"), 1U) << colors;
  EXPECT_EQ(count(colors, "<svg"), 1U) << "b is no curve, and grey";
  EXPECT_EQ(count(to_html(page_of({measured(1, 32, "auto")})), "<p class=\"soft colors\">"), 0U);
}

TEST(page, says_of_what_its_rows_are_the_count) {
  auto all = std::vector{measured(1, 32, "auto"), measured(2, 32, "auto"), measured(2, 64, "auto"),
                         measured(4, 32, "auto")};
  all[3].metrics.clear();
  all[3].status = result_status::failed;
  auto p = page_of(all);
  p.rows[2].earlier = true;
  EXPECT_EQ(
      count(
          to_html(p),
          "<summary>all 4 rows, of all studies: 2 measured points, 1 earlier result of such points, 1 point "
          "without a number</summary>"),
      1U);
}

TEST(page, leads_from_the_number_of_a_paper_to_its_title) {
  const auto glossary = html_glossary();
  for (const auto* number : {"000", "001", "002", "003", "004"})
    EXPECT_EQ(count(glossary, fmt::format("<dt><span id=\"paper-{0}\">paper {0}</span></dt><dd>", number)),
              1U);
  EXPECT_EQ(
      with_papers("Rounds (000, table I; 004) < paper 001"),
      "Rounds (<a href=\"#paper-000\">paper 000</a>, table I; <a href=\"#paper-004\">paper 004</a>) &lt; "
      "paper <a href=\"#paper-001\">001</a>");
  const auto papers = papers_in("Rounds (004, figure 2; 000, table I), and 003 GB");
  ASSERT_EQ(papers.size(), 3U);
  EXPECT_TRUE(papers.front().starts_with("000: L. Zhang")) << papers.front();
  EXPECT_TRUE(papers_in("1000 of 10002").empty());
  EXPECT_EQ(with_papers("1000, 0004 and 1.000 us, \"005\""), escaped("1000, 0004 and 1.000 us, \"005\""));
}

TEST(page, hostile_names_are_words_in_text_and_in_json) {
  std::vector<result> all{measured(1, 32, "</script><script>alert(1)</script>")};
  all.front().point.set("load", std::string("\" onmouseover=\"alert(2)"));
  all.front().attachments.push_back({"<b>picture</b>", "image/svg+xml", "<svg onload=\"alert(3)\"/>"});
  auto p = page_of(all);
  p.title = p.files.front().machine.host = "<img src=x onerror=alert(4)>";
  p.files.front().machine.hosts = {p.title};
  p.files.front().commands = {"mgsync '</pre><script>'"};
  const auto html = to_html(p);
  EXPECT_EQ(count(html, "<script"), 2U);  // the data and our own
  EXPECT_EQ(count(html, "</script"), 2U);
  EXPECT_EQ(count(html, "<img src=x"), 0U);
  EXPECT_EQ(count(html.substr(0, html.find("mgsync-data\">")), "\" onmouseover"), 0U);
  EXPECT_EQ(count(html, "<svg onload"), 0U);
  const auto from = html.find("id=\"mgsync-data\">") + 17;
  const auto data = nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
  EXPECT_EQ(data["results"][0]["variant"], "</script><script>alert(1)</script>");
  EXPECT_EQ(data["results"][0]["metrics"]["latency"]["raw"].size(), 8U);
}

TEST(page, a_figure_that_cannot_be_drawn_costs_no_other) {
  const std::vector<result> all{measured(1, 32, "auto"), measured(2, 32, "auto")};
  auto p = page_of(all);
  auto& figures = p.sections.front().shown.figures;
  auto broken = std::get<chart>(figures.front());
  broken.heading = {"broken", "Over <nothing>"};
  broken.curves[0].points[1].y = std::numeric_limits<double>::quiet_NaN();
  figures.insert(figures.begin(), broken);
  const auto html = to_html(p);
  EXPECT_NE(html.find("<p>This figure, Over &lt;nothing&gt;, cannot be drawn: "), std::string::npos);
  EXPECT_EQ(count(html, "<svg"), 2U) << "the other, and its slim form";
  EXPECT_NE(html.find("aria-label=\"Over GPUs\""), std::string::npos);
}

TEST(page, a_figure_whose_parts_do_not_fit_costs_no_other) {
  const std::vector<result> all{measured(1, 32, "auto"), measured(2, 32, "auto")};
  auto p = page_of(all);
  auto& figures = p.sections.front().shown.figures;
  auto beside = std::get<chart>(figures.front());
  beside.x.categories = {"only"};
  beside.curves[0].points[0].x = -1e97;  // what an index is not made of
  figures.insert(figures.begin(), beside);
  figures.insert(figures.begin(), heat_map{{"map", "Map"}, "r", "c", {"1", "2"}, {"1"}, {{1.0}}, "us"});
  const auto html = to_html(p);
  EXPECT_EQ(count(html, "cannot be drawn: "), 2U);
  EXPECT_EQ(count(html, "<svg"), 2U);
}

TEST(page, of_figures_of_one_kind_one_is_chosen_without_a_script) {
  auto p = page_of({});
  auto& figures = p.sections.front().shown.figures;
  figures.clear();
  for (const char* name : {"ranked-gpu-2-1x32", "ranked-gpu-2-4x256", "ranked-gpu-1-1x32"})
    figures.push_back(bar_chart{.heading = {name, "Ranked: " + std::string(name + 11)},
                                .values = {"us"},
                                .bars = {{.name = "a", .parts = {1.0}}},
                                .in_terminal = true});
  figures.push_back(
      bar_chart{.heading = {"ladder", "ladder"}, .values = {"us"}, .bars = {{.name = "a", .parts = {1.0}}}});
  const auto html = to_html(p);
  EXPECT_EQ(count(html, "<input type=\"radio\""), 3U);
  EXPECT_EQ(count(html, " checked>"), 1U);
  for (const char* label : {"2-1x32", "2-4x256", "1-1x32"})
    EXPECT_EQ(count(html, fmt::format("<span>{}</span></label>", label)), 1U) << label;
  const auto set = html.find("<div class=\"set\""), end = html.find("</div>\n</section>", set);
  EXPECT_LT(set, html.find("data-figure=\"ranked-gpu-1-1x32\""));
  EXPECT_LT(set, html.find("<section id=\"m1-barriers\"")) << "the answer stands first";
  EXPECT_LT(end, html.find("data-figure=\"ladder\""));
  EXPECT_NE(page_style().find(".set>input:nth-of-type(3):checked~figure:nth-of-type(3)"), std::string::npos);
}

TEST(page, what_tells_figures_apart_keeps_its_name_and_unit) {
  const auto labels = [](const std::vector<std::string>& titles, const std::vector<std::string>& expected) {
    auto p = page_of({});
    auto& figures = p.sections.front().shown.figures;
    figures.clear();
    for (std::size_t i = 0; i < titles.size(); ++i)
      figures.push_back(bar_chart{.heading = {fmt::format("ranked-{}", i), titles[i]},
                                  .values = {"us"},
                                  .bars = {{.name = "a", .parts = {1.0}}},
                                  .in_terminal = true});
    const auto html = to_html(p);
    for (const auto& label : expected)
      EXPECT_EQ(count(html, fmt::format("<span>{}</span></label>", label)), 1U) << label;
  };
  labels({"Shapes: 2 GPUs", "Shapes: 2 GPUs, late 5000 us"}, {"2 GPUs", "2 GPUs, late 5000 us"});
  labels({"Ranked: 2 GPUs, work 20 us", "Ranked: 2 GPUs, work 200 us"}, {"work 20 us", "work 200 us"});
  labels({"Ranked: 1 GPU, idle", "Ranked: 2 GPUs, idle"}, {"1 GPU", "2 GPUs"});
}

TEST(page, a_timeline_that_its_study_draws_is_not_shown_twice) {
  std::vector<result> all{measured(1, 32, "auto")};
  all.front().attachments.push_back({"timeline.svg", "image/svg+xml", "<svg/>"});
  auto p = page_of(all);
  EXPECT_EQ(count(to_html(p), "data:image/svg+xml;base64"), 0U);
  p.sections.front().shown.figures.clear();
  EXPECT_EQ(count(to_html(p), "data:image/svg+xml;base64"), 1U);
}

TEST(page, each_part_of_a_large_page_has_its_rows_and_those_that_it_links_to) {
  auto all = std::vector{measured(1, 32, "auto"), measured(2, 32, "auto"), measured(1, 64, "copy")};
  all[2].point.study = "reduction";
  auto p = page_of(all);
  p.files.push_back({"b.json", {"mgsync study reduction"}, "", "complete", {}});
  p.rows[2].file = 1;
  p.sections.push_back({"m1-reduction", "Reduction", {{"a sentence"}, {}, {}}, {}, "m1-"});
  const auto parts = by_section(p);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].rows.size(), 3U) << "a mark of the first links to the other study's row";
  EXPECT_EQ(parts[0].verdict.shown.sentences, p.verdict.shown.sentences);
  ASSERT_EQ(parts[1].rows.size(), 1U);
  EXPECT_EQ(parts[1].rows[0].of, &all[2]);
  ASSERT_EQ(parts[1].files.size(), 1U);
  EXPECT_EQ(parts[1].files[parts[1].rows[0].file].name, "b.json");
  EXPECT_EQ(parts[1].title, "Reduction: Barriers");
}

TEST(page, that_is_too_large_leaves_only_the_words_of_its_largest_sections_but_the_first_and_says_so) {
  std::vector<result> all{measured(1, 32, "auto"), measured(2, 32, "auto"), measured(2, 64, "vendor"),
                          measured(2, 128, "vendor")};
  for (const std::size_t i : {2U, 3U}) all[i].point.study = "reduction";
  auto p = page_of(all);
  auto other = p.sections.front();
  other.id = "m1-reduction", other.title = "Reduction";
  auto& points = std::get<chart>(other.shown.figures[0]).curves[0].points;
  points.erase(points.begin(), points.begin() + 3);  // the last row alone; the first section links to all
  auto& of_first = std::get<chart>(p.sections.front().shown.figures[0]).curves[0].points;
  of_first.erase(of_first.begin() + 2);
  p.sections.push_back(other);
  auto same = p;
  EXPECT_TRUE(fit(same, 10'000'000).empty());
  EXPECT_FALSE(same.brief);
  auto brief = p;
  EXPECT_TRUE(fit(brief, to_html(p).size() - 1).empty());
  EXPECT_TRUE(brief.brief);
  EXPECT_EQ(count(to_html(brief), "the numbers</summary>"), 0U);
  EXPECT_EQ(count(to_html(brief), "\"raw\""), 0U);
  EXPECT_EQ(fit(p, 1000), (std::vector<std::string>{"Reduction"}));
  EXPECT_NE(to_html(p).find("Left out here, as one page would be too large: figures, long tables and rows of "
                            "Reduction."),
            std::string::npos);
  const auto& kept = p.sections.back().shown;
  EXPECT_TRUE(kept.figures.empty());
  EXPECT_EQ(kept.sentences.size(), other.shown.sentences.size() + 1);
  EXPECT_EQ(kept.tables.size(), other.shown.tables.size()) << "they are short";
  ASSERT_EQ(p.rows.size(), 3U) << "the row that the first section links to stays";
  EXPECT_EQ(p.rows[2].of, &all[3]);
}

TEST(page, of_several_machines_names_whose_ranked_bars_stand_first_and_never_leaves_these_out) {
  std::vector<result> all{measured(1, 32, "auto")};
  auto p = page_of(all);
  auto ranked = p.sections.front();
  ranked.title = "Barriers: 2 x B";
  ranked.shown.figures = {bar_chart{.heading = {"ranked", "Ranked", ""},
                                    .values = {"us"},
                                    .bars = {{.name = "a", .parts = {1.0}}},
                                    .in_terminal = true}};
  auto other = p.sections.front();
  other.title = "Barriers: 1 x C";
  ranked.shown.figures.push_back(other.shown.figures.front());
  p.sections = {p.sections.front(), ranked, other};
  EXPECT_NE(to_html(p).find("The figures are of 2 x B."), std::string::npos);
  EXPECT_EQ(fit(p, 1000), (std::vector<std::string>{"Barriers: 1 x C", "Barriers: 2 x B"}))
      << "the headline's last";
  ASSERT_EQ(p.sections[1].shown.figures.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<bar_chart>(p.sections[1].shown.figures[0]));
}

TEST(page, that_is_too_large_leaves_out_other_studies_before_barriers) {
  std::vector<result> all{measured(1, 32, "auto")};
  auto p = page_of(all);
  auto other = p.sections.front();
  other.id = "m1-levels", other.title = "Levels", other.commands.clear();
  auto larger = p.sections.front();
  larger.commands.push_back("a command that makes it larger than the other");
  p.sections.insert(p.sections.end(), {larger, other});
  EXPECT_EQ(fit(p, 1000), (std::vector<std::string>{"Levels", larger.title}));
}

TEST(page, that_would_be_too_high_folds_later_sections) {
  const std::vector<result> all{measured(1, 32, "auto")};
  auto p = page_of(all);
  bar_chart tall{{"b", "Bars"}, {"us"}, {}, {}};
  for (int i = 0; i < 300; ++i) tall.bars.push_back({fmt::format("bar {}", i), {1.0}});
  p.sections.front().shown.figures.emplace_back(tall);
  auto next = p.sections.front();
  next.id = "m1-next", next.title = "Next";
  auto last = page_of(all).sections.front();
  last.id = "m1-last";
  p.sections.push_back(next);
  p.sections.push_back(last);
  fold(p);
  EXPECT_FALSE(p.sections[0].folded) << "the first is what the page is for";
  EXPECT_TRUE(p.sections[2].folded);
  EXPECT_FALSE(p.sections[3].folded) << "it has room";
  EXPECT_EQ(count(to_html(p), "<details class=\"fold\"><summary><h2>Next</h2>\n</summary>"), 1U);
}

TEST(reading, says_in_plain_words_what_is_least_and_by_how_much) {
  const bar_chart bars{{"b", "b"},
                       {"latency (us)"},
                       {},
                       {{.name = "pale", .parts = {1}, .reference = true},
                        {.name = "ours", .parts = {2}, .low = 1.9, .high = 2.1},
                        {.name = "near", .parts = {2.1}, .low = 2.05, .high = 2.2},
                        {.name = "far", .parts = {9}, .low = 8.0, .high = 9.5}}};
  EXPECT_EQ(reading_of(bars),
            "Of the filled bars, ours takes least, 2 us (between 1.9 and 2.1 with 95 % confidence); no "
            "difference was shown to near; far takes 4.5 times as long.");
  auto close = bars;
  close.bars[0].parts = {3};
  EXPECT_TRUE(reading_of(close).starts_with("ours takes least")) << reading_of(close);
  close.bars[1].is_range = true;
  EXPECT_NE(reading_of(close).find("(between 1.9 and 2.1 in all batches, too few for 95 %)"),
            std::string::npos);
  close.bars[2] = {.name = "near", .parts = {2.1}, .low = 2.11, .high = 2.2};
  EXPECT_NE(reading_of(close).find("; near takes 5.0 % longer, and far takes 4.5 times as long."),
            std::string::npos)
      << reading_of(close) << " never 1.0 times";
  close.bars[2].file = 1;
  EXPECT_NE(reading_of(close).find("; no difference was shown to near; far takes"), std::string::npos)
      << reading_of(close) << " of another process";
  bar_chart counts{
      {"b", "b"}, {"products"}, {}, {{.name = "+0 %", .parts = {9}}, {.name = "+2 %", .parts = {2}}}};
  EXPECT_EQ(reading_of(counts), "The longest bar is +0 %, 9 products.") << "no time";
  const bar_chart single{
      {"b", "b"}, {"latency (us)"}, {}, {{.name = "a ?", .parts = {1}}, {.name = "b ?", .parts = {2}}}};
  EXPECT_EQ(reading_of(single),
            "Each bar is one batch, which has no interval: which of them is faster was not shown.");
  const heat_map map{{"m", "m"}, "barrier", "shape", {"a", "b"}, {"1x32", "32x64"}, {{1.0, 2.0}, {2.0, 12.0}},
                     "us"};
  EXPECT_EQ(
      reading_of(map),
      "The least is 1 us (barrier: a, shape: 1x32), the most 12 us (barrier: b, shape: 32x64). From 1x32 to "
      "32x64, what grows most is b from 2 to 12 us (6.0 times); what grows least is a from 1 to 2 us.");
}

TEST(page, five_hundred_points_are_small_and_quick) {
  std::vector<result> all;
  for (int i = 0; i < 500; ++i)
    all.push_back(measured(1 + i % 8, 32.0 * (1 + i / 8), fmt::format("variant-{}", i)));
  [[maybe_unused]] const auto began = std::clock();  // of this process: a busy machine takes none of it
  const auto html = to_html(page_of(all));
  EXPECT_LT(html.size(), 2'000'000U);
#ifdef NDEBUG
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 2.0);
#endif
}

}}  // namespace mgsync::report
