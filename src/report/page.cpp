#include "src/report/page.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/content_hash.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/units.hpp"
#include "src/report/canvas.hpp"
#include "src/report/figure_data.hpp"
#include "src/report/svg.hpp"
#include "src/results/frame/results_table.hpp"

// Made by cmake/embed.cmake; they end with a zero.
extern const unsigned char mgsync_page_css[];
extern const unsigned char mgsync_page_js[];

namespace mgsync::report {
namespace {

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
          "<td{}>{}</td>", t.columns[c].is_right() ? " class=\"n\"" : "",
          c == 0 && !source.empty() ? fmt::format("<a href=\"#{}\">{}</a>", escaped(source), words) : words);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string titled_table(const table& t, std::string_view rows) {
  return fmt::format(
      "<h3>{}</h3>\n{}{}", escaped(t.heading.title),
      t.heading.caption.empty() ? "" : fmt::format("<p class=\"soft\">{}</p>\n", escaped(t.heading.caption)),
      html_table(t, rows));
}

std::string html_commands(const std::vector<std::string>& commands) {
  if (commands.empty()) return "";
  std::string text =
      fmt::format("<details><summary>the command{}</summary>", commands.size() == 1 ? "" : "s");
  for (const auto& one : commands) text += fmt::format("<pre>{}</pre>", escaped(one));
  return text + "</details>\n";
}

// A picture that cannot be drawn does not prevent the others.
std::string picture_of(const figure& one, std::string_view rows, const palette& colors) {
  try {
    return to_svg(one, {false, rows, &colors});
  } catch (const std::invalid_argument& error) {
    return fmt::format("<p>This figure, {}, cannot be drawn: {}.</p>", escaped(heading_of(one).title),
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

std::string html_figure(const figure& one, const page_section& in, std::size_t number,
                        const palette& colors) {
  const auto& heading = heading_of(one);
  std::string text = fmt::format("<figure id=\"{}-figure-{}\" data-figure=\"{}\">\n<div "
                                 "class=\"wide\">{}</div>\n<figcaption>{}</figcaption>\n",
                                 in.id, number, escaped(heading.name), picture_of(one, in.rows, colors),
                                 escaped(heading.caption));
  return text + numbers_of(one, in.rows) + html_commands(in.commands) + "</figure>\n";
}

// A section with nothing in it is left out.
bool is_empty(const page_section& s) {
  return s.shown.sentences.empty() && s.shown.tables.empty() && s.shown.figures.empty();
}

std::string html_section(const page_section& s, const palette& colors, std::string_view css = "") {
  std::string text =
      fmt::format("<section id=\"{}\"{}>\n", s.id, css.empty() ? "" : fmt::format(" class=\"{}\"", css));
  if (!s.title.empty()) text += fmt::format("<h2>{}</h2>\n", escaped(s.title));
  for (const auto& sentence : s.shown.sentences) text += fmt::format("<p>{}</p>\n", escaped(sentence));
  const bool only_tables = s.shown.figures.empty();
  // Of many pictures of one kind ("curves-1x32", "curves-1x64", ...) only the first are open; of the charts
  // that a terminal shows too, one for each group and shape, the first.
  const auto is_of_a_cell = [&](std::size_t i) {
    const auto* bars = std::get_if<bar_chart>(&s.shown.figures[i]);
    return bars != nullptr && bars->in_terminal;
  };
  const auto kind_of = [&](std::size_t i) {
    return is_of_a_cell(i) ? ""
                           : heading_of(s.shown.figures[i])
                                 .name.substr(0, heading_of(s.shown.figures[i]).name.rfind('-'));
  };
  for (std::size_t i = 0; i < s.shown.figures.size();) {
    std::size_t end = i;
    while (end < s.shown.figures.size() && kind_of(end) == kind_of(i)) ++end;
    const std::size_t most = is_of_a_cell(i) ? 1 : 6;
    const std::size_t open = end - i > most + !is_of_a_cell(i) ? i + most : end;
    for (; i < open; ++i) text += html_figure(s.shown.figures[i], s, i + 1, colors);
    if (i == end) continue;
    text += fmt::format("<details><summary>{} like {}</summary>\n", counted(end - i, "more picture"),
                        most == 1 ? "this" : "these");
    for (; i < end; ++i) text += html_figure(s.shown.figures[i], s, i + 1, colors);
    text += "</details>\n";
  }
  for (const auto& t : s.shown.tables) {
    // A long list of waived points is folded; failures are always visible.
    constexpr std::size_t long_list = 8;
    const bool folded = t.heading.name == "endings" && t.rows.size() > long_list &&
                        std::ranges::all_of(t.rows, [](const auto& row) { return row.front() == "waived"; });
    text += folded ? fmt::format("<details><summary>{}: {} reasons</summary>\n{}</details>\n",
                                 escaped(t.heading.title), t.rows.size(), titled_table(t, s.rows))
                   : titled_table(t, s.rows);
  }
  if (only_tables) text += html_commands(s.commands);
  return text + "</section>\n";
}

std::string interval_of(const metric& m) {
  return m.of_one_batch() ? "-"
                          : fmt::format("{} - {}", format_number(m.ci95_low), format_number(m.ci95_high));
}

// The status of a point as a word, and its reason.
std::string ending_of(const result& r) {
  const auto word = r.status == result_status::measured ? std::string(word_of(r.verdict))
                                                        : std::string(to_string(r.status));
  const auto ending = r.reason.empty() ? word : fmt::format("{}: {}", word, r.reason);
  return r.doubts.empty() ? ending : fmt::format("{}; means little: {}", ending, words_of(r.doubts));
}

std::string axes_of(const point& p) {
  std::vector<std::string> words;
  for (const auto& one : p.axes)
    if (!is_of_shape(one.name) && !is_ordinary(one)) words.push_back(describe(one));
  if (p.placement != "near") words.push_back("placement " + p.placement);
  if (!p.node.empty()) words.push_back("on " + p.node);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string html_rows(const page& p) {
  if (p.rows.empty()) return "";
  std::string text =
      fmt::format("<section id=\"rows\"><h2>Every row</h2>\n<details class=\"all-rows\"><summary>all {} "
                  "points, as they were measured</summary>\n"
                  "<div class=\"wide\"><table>\n<thead><tr>",
                  p.rows.size());
  constexpr const char* columns[] = {"study",  "what", "members", "ranks",   "shape",   "under", "metric",
                                     "median", "ci95", "least",   "samples", "batches", "ended", "file"};
  for (const auto* name : columns) text += fmt::format("<th scope=\"col\">{}</th>", name);
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : p.rows) {
    const auto& r = *row.of;
    const auto shared =
        fmt::format("<td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td>",
                    escaped(r.point.study), escaped(subject_of(r.point)), count_of_members(r.point),
                    r.point.ranks, escaped(format_shape(r.point)), escaped(axes_of(r.point)));
    const auto last =
        fmt::format("<td class=\"words{}\">{}</td><td class=\"n\">{}</td></tr>\n",
                    r.status == result_status::failed ? " bad" : "", escaped(ending_of(r)), row.file + 1);
    if (!r.has_metrics())
      text += fmt::format("<tr id=\"{}\">{}<td></td><td></td><td></td><td></td><td></td><td></td>{}", row.id,
                          shared, last);
    for (const auto& m : r.metrics)
      text += fmt::format("<tr{}>{}<td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
                          "class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{}",
                          &m == &r.metrics.front() ? fmt::format(" id=\"{}\"", row.id) : "", shared,
                          escaped(column_name(m)), format_number(m.median), interval_of(m),
                          format_number(m.min), m.samples, m.raw.size(), last);
  }
  return text + "</tbody></table></div></details></section>\n";
}

void add_term(std::string& text, std::string_view name, const std::string& value) {
  if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
}

std::string html_file(const page_file& f, std::size_t number) {
  const auto& m = f.machine;
  std::string text =
      fmt::format("<h3>{}. {}</h3>\n<pre>{}</pre>\n<dl>", number, escaped(f.name), escaped(f.command));
  add_term(text, "measured", fmt::format("{}, {}", f.started, f.ended));
  add_term(
      text, "hosts",
      fmt::format("{}{}", fmt::join(m.hosts, " "), m.ranks > 1 ? fmt::format(", {} ranks", m.ranks) : ""));
  add_term(text, "CPU", fmt::format("{}, {} cores", m.cpu_model, m.cores));
  for (const auto& gpu : m.gpus)
    add_term(text, fmt::format("GPU {}", gpu.id),
             fmt::format("{}, {}{}", gpu.name, gpu.uuid,
                         gpu.sm_clock_mhz ? fmt::format(", SM clock {} MHz", *gpu.sm_clock_mhz) : ""));
  add_term(text, "mgsync", m.mgsync);
  add_term(
      text, "system",
      fmt::format("{}, {}, {}, hwloc {}", m.kernel, m.compiler, m.mpi == "none" ? "no MPI" : m.mpi, m.hwloc));
  add_term(text, "pinning", m.pinning);
  for (const auto& sentence : f.remarks) add_term(text, "note", sentence);
  for (const auto& sentence : m.notes) add_term(text, "note", sentence);
  text += "</dl>\n";
  if (f.settings.empty()) return text;
  text += "<details><summary>settings, driver, clocks, variables</summary><dl>";
  for (const auto& [name, value] : f.settings) add_term(text, name, value);
  return text + "</dl></details>\n";
}

std::string html_attachments(const page& p) {
  std::string text;
  for (const auto& row : p.rows)
    for (const auto& one : row.of->attachments) {
      // A picture from a results file is embedded as an image, in which no script runs and nothing is loaded.
      if (one.media_type == "image/svg+xml")
        text += fmt::format("<figure class=\"drawing\"><div class=\"wide\"><img alt=\"{0}\" "
                            "src=\"data:image/svg+xml;base64,{1}\"></div><figcaption><a "
                            "href=\"#{3}\">{0}</a>, {2}</figcaption></figure>\n",
                            escaped(one.name), base64(one.content), escaped(name_of(row.of->point)), row.id);
      else
        text += fmt::format(
            "<p class=\"soft\"><a href=\"#{}\">{}</a>: {} ({}, {} bytes) is in the results file.</p>\n",
            row.id, escaped(name_of(row.of->point)), escaped(one.name), escaped(one.media_type),
            one.content.size());
    }
  return text.empty() ? "" : "<section id=\"attachments\"><h2>Attachments</h2>\n" + text + "</section>\n";
}

// The results as JSON: summaries and the batches' medians. "<" is escaped, so that no name can end the
// <script> element.
std::string json_of(const page& p) {
  nlohmann::ordered_json all;
  all["schema"] = "mgsync-report/1";
  all["files"] = nlohmann::ordered_json::array();
  for (const auto& f : p.files)
    all["files"].push_back(
        {{"name", f.name}, {"command", f.command}, {"started", f.started}, {"machine", to_json(f.machine)}});
  all["results"] = nlohmann::ordered_json::array();
  for (const auto& row : p.rows) {
    auto one = to_json(*row.of);
    one.erase("attachments");
    nlohmann::ordered_json placed{{"row", row.id}, {"file", row.file + 1}};
    placed.update(one);
    all["results"].push_back(std::move(placed));
  }
  const auto text = all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    if (c == '<') safe += "\\u003c";
    else safe += c;
  }
  return safe;
}

std::string html_contents(const page& p) {
  std::string text = "<nav aria-label=\"contents\"><ul>";
  const auto add = [&](std::string_view id, std::string_view title) {
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, escaped(title));
  };
  for (const auto& s : p.sections)
    if (!is_empty(s)) add(s.id, s.title);
  if (!p.drawings.empty()) add("topology", p.drawings_title);
  if (!p.rows.empty()) add("rows", "Every row");
  add("environment", "Where and how");
  return text + "</ul></nav>\n";
}

}  // namespace

std::string page_style() {
  return std::string(figure_style()) + reinterpret_cast<const char*>(mgsync_page_css);
}

std::string_view page_script() { return reinterpret_cast<const char*>(mgsync_page_js); }

std::string to_html(const page& p) {
  const auto style = page_style();
  const auto script = page_script();
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src "
      "'{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      content_hash(style), content_hash(script), escaped(p.title), style);
  text += fmt::format("<header><h1>{}</h1><p class=\"soft\">{}</p></header>\n", escaped(p.title),
                      escaped(p.subtitle));
  std::vector<const figure*> pictures;
  for (const auto& s : p.sections)
    for (const auto& one : s.shown.figures) pictures.push_back(&one);
  const palette colors(pictures);
  text += html_contents(p) + html_section(p.verdict, colors, "verdict");
  for (const auto& s : p.sections)
    if (!is_empty(s)) text += html_section(s, colors);
  if (!p.drawings.empty()) {
    text += fmt::format("<section id=\"topology\"><h2>{}</h2>\n", escaped(p.drawings_title));
    for (const auto& d : p.drawings)
      text += fmt::format(
          "<figure class=\"drawing\"><div class=\"wide\">{}</div><figcaption>{}</figcaption></figure>\n",
          d.svg, escaped(d.title + (d.caption.empty() ? "" : ": " + d.caption)));
    text += "</section>\n";
  }
  text += html_attachments(p) + html_rows(p) +
          "<section id=\"environment\"><h2>Where and how it was measured</h2>\n";
  for (std::size_t i = 0; i < p.files.size(); ++i) text += html_file(p.files[i], i + 1);
  text += fmt::format("</section>\n<footer><p class=\"soft\">Written by {}. The summaries and the medians of "
                      "all batches are in this file as JSON, in the element "
                      "\"mgsync-data\". Latency is the median over batches, with its 95 % confidence "
                      "interval.</p>\n{}</footer>\n",
                      escaped(p.written), html_glossary());
  text += fmt::format("<script type=\"application/json\" "
                      "id=\"mgsync-data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
                      json_of(p), script);
  return text;
}

}  // namespace mgsync::report
