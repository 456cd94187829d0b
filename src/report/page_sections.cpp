#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/report/figure_data.hpp"
#include "src/report/page_parts.hpp"
#include "src/report/reading.hpp"
#include "src/report/svg.hpp"

namespace mgsync::report {
namespace {

constexpr int shown_width = 900;  // the most that page.css gives a figure
constexpr std::size_t longest_data =
    1000;  // rows in the table below a figure; further ones are only in the results file

std::string html_table(const table& t, std::string_view rows) {
  std::string text = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const auto& one : t.columns)
    text +=
        fmt::format("<th scope=\"col\"{}>{}</th>", one.is_right() ? " class=\"n\"" : "", escaped(one.title));
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < t.rows.size(); ++r) {
    const std::string source = rows.empty() || r >= t.sources.size() || t.sources[r].empty()
                                   ? ""
                                   : fmt::format("{}{}", rows, t.sources[r]);
    text += "<tr>";
    for (std::size_t c = 0; c < t.rows[r].size(); ++c) {
      const auto words = escaped(t.rows[r][c]);
      text += fmt::format(
          "<td{}>{}", t.columns[c].is_right() ? " class=\"n\"" : "",
          c == 0 && !source.empty() ? fmt::format("<a href=\"#{}\">{}</a>", escaped(source), words) : words);
    }
    text += "\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string titled_table(const table& t, std::string_view rows) {
  return fmt::format("<h3>{}</h3>\n{}{}", with_papers(t.heading.title),
                     t.heading.caption.empty()
                         ? ""
                         : fmt::format("<p class=\"soft\">{}</p>\n", with_papers(t.heading.caption)),
                     html_table(t, rows));
}

std::string html_commands(const std::vector<std::string>& commands) {
  if (commands.empty()) return "";
  std::string text =
      fmt::format("<details><summary>the command{}</summary>", commands.size() == 1 ? "" : "s");
  for (const auto& one : commands) text += fmt::format("<pre>{}</pre>", escaped(one));
  return text + "</details>\n";
}

// A map of many columns is shown as large as it is drawn, and scrolls, so that its numbers can be read.
bool is_large(std::string_view svg) {
  constexpr std::string_view before = " width=\"";
  const auto at = svg.find(before);
  int width = 0;
  if (at != svg.npos) std::from_chars(svg.data() + at + before.size(), svg.data() + svg.size(), width);
  return width > shown_width;
}

// A picture that cannot be drawn does not prevent the others. Charts and bars are drawn a second time for
// narrow screens.
std::string pictures_of(const figure& one, std::string_view rows, const palette& colors) {
  try {
    const auto svg = to_svg(one, {false, rows, &colors});
    auto text = fmt::format("<div class=\"wide{}\">{}</div>\n", is_large(svg) ? " large" : "", svg);
    if (std::holds_alternative<chart>(one) || std::holds_alternative<bar_chart>(one))
      text += fmt::format("<div class=\"slim\">{}</div>\n", to_svg(one, {false, rows, &colors, true}));
    return text;
  } catch (const std::invalid_argument& error) {
    return fmt::format("<p>This figure, {}, cannot be drawn: {}.</p>\n", escaped(heading_of(one).title),
                       escaped(error.what()));
  }
}

std::string numbers_of(const figure& one, std::string_view rows) {
  try {
    const auto numbers = data_of(one);
    if (numbers.rows.size() > longest_data) return "";
    return fmt::format("<details><summary>the numbers</summary>{}</details>\n", html_table(numbers, rows));
  } catch (const std::invalid_argument&) {
    return "";  // the reason stands in the picture's place
  }
}

constexpr std::size_t most_in_set = 24;

}  // namespace

// Figures of one kind: their names begin alike ("ranked-gpu-4-1x32", "ranked-gpu-4-4x256"), and have numbers,
// or there are many of them.
std::size_t end_of_set(const std::vector<figure>& all, std::size_t from) {
  constexpr std::size_t many = 8;
  const auto kind = [&](std::size_t i) {
    const auto& name = heading_of(all[i]).name;
    return std::pair(all[i].index(), name.substr(0, name.find('-')));
  };
  std::size_t numbered = from, to = from;
  for (; to < all.size() && kind(to) == kind(from) && to - from < most_in_set; ++to)
    if (numbered == to && heading_of(all[to]).name.find_first_of("0123456789") != std::string::npos)
      ++numbered;
  return to - from >= many ? to : std::max(numbered, from + 1);
}

namespace {

// The figures of a section, with numbers that count all of them.
class figures {
 public:
  figures(const page_section& of, const palette& colors, bool brief = false)
      : section_(of), colors_(colors), brief_(brief) {}

  std::string html() {
    std::string text;
    const auto& all = section_.shown.figures;
    for (std::size_t i = 0; i < all.size();) {
      const auto end = end_of_set(all, i);
      text += end - i > 1 ? set(i, end) : one(i);
      i = end;
    }
    return text;
  }

 private:
  std::string one(std::size_t i) const {
    const auto& what = section_.shown.figures[i];
    const auto& heading = heading_of(what);
    const auto reading = words_of(what);
    return fmt::format(
        "<figure id=\"{}-figure-{}\" data-figure=\"{}\">\n{}<figcaption>{}{}</figcaption>\n{}</figure>\n",
        section_.id, i + 1, escaped(heading.name), pictures_of(what, section_.rows, colors_),
        reading.empty() ? "" : fmt::format("<p class=\"reading\">{}</p>", escaped(reading)),
        with_papers(heading.caption), brief_ ? "" : numbers_of(what, section_.rows));
  }

  static std::string words_of(const figure& what) {
    try {
      check_parts(what);
      return reading_of(what);
    } catch (const std::invalid_argument&) {
      return "";  // the reason stands in the picture's place
    }
  }

  // Buttons, of which one is pressed, and the figures, of which its one is shown: by the style alone.
  std::string set(std::size_t from, std::size_t to) const {
    const auto labels = labels_of(from, to);
    drawn_range y;
    for (std::size_t i = from; i < to; ++i)
      if (const auto* c = std::get_if<chart>(&section_.shown.figures[i]))
        for (const auto& one : c->curves)
          for (const auto& p : one.points)
            if (can_be_drawn(p.y) && (p.y > 0 || !c->y.logarithmic)) y.add(p.y);
    std::string text = "<div class=\"set\" role=\"radiogroup\">\n";
    for (std::size_t i = from; i < to; ++i) {
      const auto id = fmt::format("{}-choose-{}", section_.id, i + 1);
      text += fmt::format(
          "<input type=\"radio\" id=\"{0}\" name=\"{1}-set-{2}\"{3}><label for=\"{0}\">{4}<span>"
          "{5}</span></label>\n",
          id, section_.id, from + 1, i == from ? " checked" : "", small(i, y), escaped(labels[i - from]));
    }
    for (std::size_t i = from; i < to; ++i) text += one(i);
    return text + "</div>\n";
  }

  std::string small(std::size_t i, const drawn_range& y) const {
    const auto* c = std::get_if<chart>(&section_.shown.figures[i]);
    if (c == nullptr || !(y.low <= y.high)) return "";
    try {
      check_parts(*c);
      return to_small_svg(*c, colors_, y.low, y.high);
    } catch (const std::invalid_argument&) {
      return "";  // the reason stands in the picture's place
    }
  }

  // What tells the titles apart: their beginning and their end where they are alike is left out.
  std::vector<std::string> labels_of(std::size_t from, std::size_t to) const {
    std::vector<std::string> titles;
    for (std::size_t i = from; i < to; ++i) titles.push_back(heading_of(section_.shown.figures[i]).title);
    const auto& some = titles.front();
    std::size_t before = some.size(), behind = some.size();
    for (const auto& one : titles) {
      before =
          std::min(before, static_cast<std::size_t>(std::ranges::mismatch(some, one).in1 - some.begin()));
      const auto rest = std::ranges::mismatch(some.rbegin(), some.rend(), one.rbegin(), one.rend());
      behind = std::min(behind, static_cast<std::size_t>(rest.in1 - some.rbegin()));
    }
    // Between the parts of a title, so that a number keeps its name and its unit.
    const auto ends_part = [&](std::size_t at) {
      return at >= 2 && some[at - 1] == ' ' && (some[at - 2] == ',' || some[at - 2] == ':');
    };
    while (before > 0 && !ends_part(before)) --before;
    while (behind > 0 && some[some.size() - behind] != ',') --behind;
    std::vector<std::string> labels;
    for (const auto& one : titles) {
      const bool fits = before + behind < one.size();
      auto label =
          fits ? one.substr(before, one.size() - before - behind) : one.substr(std::min(before, one.size()));
      labels.push_back(label.empty() ? one : label);
    }
    return labels;
  }

  const page_section& section_;
  const palette& colors_;
  bool brief_;
};

// Folded tables show their title and how many rows there are.
std::string folded_table(const table& t, std::string_view rows) {
  if (!is_folded(t)) return titled_table(t, rows);
  return fmt::format("<details><summary>{}: {} {}</summary>\n{}</details>\n", with_papers(t.heading.title),
                     t.rows.size(), t.heading.name == "endings" ? "reasons" : "rows", titled_table(t, rows));
}

}  // namespace

bool is_folded(const table& t) {
  constexpr std::size_t long_list = 8, long_table = 14;
  if (t.heading.name != "endings") return t.heading.name == "calls" || t.rows.size() > long_table;
  return t.rows.size() > long_list &&
         std::ranges::all_of(t.rows, [](const auto& row) { return row.front() == "waived"; });
}

bool is_empty(const page_section& s) {
  return s.shown.sentences.empty() && s.shown.tables.empty() && s.shown.figures.empty();
}

namespace {

std::string html_sentence(const std::string& words) { return fmt::format("<p>{}</p>\n", with_links(words)); }

std::string html_in_parts(const told_in_parts& one) {
  auto text = fmt::format("<div class=\"in-parts\">{}<dl>", html_sentence(one.words));
  for (const auto& [what, words] : one.parts)
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(what), with_links(words));
  return text + "</dl></div>\n";
}

// The sentences of a section, each as a paragraph; in the place of the first of those that are told in parts
// their parts, and nothing in that of the others.
std::vector<std::string> html_sentences(const evaluation& shown) {
  std::vector<std::string> all;
  for (const auto& words : shown.sentences) {
    const auto told = std::ranges::find_if(shown.in_parts, [&](const told_in_parts& one) {
      return std::ranges::find(one.sentences, words) != one.sentences.end();
    });
    if (told == shown.in_parts.end()) all.push_back(html_sentence(words));
    else if (told->sentences.front() == words) all.push_back(html_in_parts(*told));
  }
  return all;
}

// Which barrier each colour is, of the barriers of these figures; empty where none has one.
std::string html_colors(const page_section& first, const palette& colors) {
  std::set<std::pair<std::size_t, std::string>> known;
  for (const auto& one : first.shown.figures)
    if (const auto* bars = std::get_if<bar_chart>(&one))
      for (const auto& b : bars->bars)
        if (const auto color = colors.of(b.subject)) known.emplace(*color, b.subject);
  if (known.empty()) return "";
  std::string text = "<p class=\"soft colors\">A colour is the same barrier on the whole page: ";
  for (const auto& [color, name] : known)
    text +=
        fmt::format("<span><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" "
                    "class=\"{}\"/></svg>{}</span> ",
                    of_color("f", color), escaped(name));
  return text + "Grey or black are all others, each named.</p>\n";
}

}  // namespace

std::string html_section(const page_section& s, const palette& colors, std::string_view css,
                         const page_section* first, bool brief) {
  std::string text =
      fmt::format("<section id=\"{}\"{}>\n", s.id, css.empty() ? "" : fmt::format(" class=\"{}\"", css));
  if (s.folded) text += "<details class=\"fold\"><summary>";
  if (!s.title.empty()) text += fmt::format("<h2>{}</h2>\n", escaped(s.title));
  if (s.folded) text += "</summary>\n";
  const auto sentences = html_sentences(s.shown);
  const auto before = std::min(sentences.size(), s.before_figure);
  for (std::size_t i = 0; i < before; ++i) text += sentences[i];
  if (first != nullptr) {
    if (!first->title.empty())
      text += fmt::format("<p class=\"soft\">The figures are of {}.</p>\n", escaped(first->title));
    text += figures(*first, colors, brief).html() + html_colors(*first, colors);
  }
  for (std::size_t i = before; i < sentences.size(); ++i) text += sentences[i];
  text += figures(s, colors, brief).html();
  for (const auto& t : s.shown.tables) text += folded_table(t, s.rows);
  text += html_commands(s.commands);
  return text + (s.folded ? "</details></section>\n" : "</section>\n");
}

bool is_of_headline(const figure& one) {
  const auto* bars = std::get_if<bar_chart>(&one);
  return bars != nullptr && bars->in_terminal;
}

bool has_headline(const page_section& s) { return std::ranges::any_of(s.shown.figures, is_of_headline); }

page_section take_headline(page& p) {
  page_section taken{"headline", "", {}, {}, ""};
  const auto of = std::ranges::find_if(p.sections, has_headline);
  if (of == p.sections.end()) return taken;
  taken.rows = of->rows;
  if (const auto colon = of->title.find(": "); colon != std::string::npos)
    taken.title = of->title.substr(colon + 2);  // the machine, of several
  auto& all = of->shown.figures;
  const auto rest = std::stable_partition(all.begin(), all.end(), is_of_headline);
  std::move(all.begin(), rest, std::back_inserter(taken.shown.figures));
  all.erase(all.begin(), rest);
  return taken;
}

std::string style_of_sets() {
  std::string shown;
  for (std::size_t i = 1; i <= most_in_set; ++i)
    shown +=
        fmt::format("{}.set>input:nth-of-type({}):checked~figure:nth-of-type({})", i == 1 ? "" : ",", i, i);
  return shown + "{display:block}\n";
}

}  // namespace mgsync::report
