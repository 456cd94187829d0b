#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/content_hash.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/markup.hpp"
#include "src/base/units.hpp"
#include "src/report/page_parts.hpp"
#include "src/results/frame/results_table.hpp"

namespace mgsync::report {
namespace {

// A point that could not run here has no row, unless something links to it: the table of what was not
// measured has the reasons.
std::vector<const page_row*> rows_of(const page& p) {
  auto linked = linked_from(p.verdict);
  for (const auto& s : p.sections) linked.merge(linked_from(s));
  std::vector<const page_row*> rows;
  for (const auto& row : p.rows)
    if (row.of->status != result_status::waived || linked.contains(row.id)) rows.push_back(&row);
  return rows;
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

// The metrics behind the first, in a few words.
std::string further(const result& r) {
  std::vector<std::string> words;
  for (const auto& m : std::span(r.metrics).subspan(r.metrics.empty() ? 0 : 1))
    words.push_back(fmt::format("{} {}", column_name(m), format_number(m.median)));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string html_row(const page_row& row) {
  const auto& r = *row.of;
  auto text = fmt::format("<tr id=\"{}\"><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}", row.id,
                          escaped(r.point.study), escaped(subject_of(r.point)), count_of_members(r.point),
                          r.point.ranks, escaped(format_shape(r.point)), escaped(axes_of(r.point)));
  if (!r.has_metrics()) text += "<td><td><td><td><td><td><td>";
  else {
    const auto& m = r.metrics.front();
    text += fmt::format("<td>{}<td class=\"n\">{}<td>{}<td>{}<td>{}<td>{}<td>{}", escaped(column_name(m)),
                        format_number(m.median), interval_of(m), format_number(m.min), m.samples,
                        m.raw.size(), escaped(further(r)));
  }
  return text + fmt::format("<td{}>{}<td>{}\n", r.status == result_status::failed ? " class=\"bad\"" : "",
                            escaped(ending_of(r)), row.file + 1);
}

// To six digits: more are noise, and make the page large.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int behind_the_point = 5 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double power = std::pow(10.0, std::abs(behind_the_point));
  return behind_the_point > 0 ? std::round(value * power) / power : std::round(value / power) * power;
}

nlohmann::ordered_json json_of(const page_row& row, bool with_batches) {
  const auto& r = *row.of;
  nlohmann::ordered_json one{{"row", row.id},
                             {"file", row.file + 1},
                             {"study", r.point.study},
                             {"subject", r.point.subject},
                             {"variant", r.point.variant},
                             {"device", std::string(to_string(r.point.device))},
                             {"members", r.point.members},
                             {"ranks", r.point.ranks},
                             {"shape", format_shape(r.point)}};
  if (const auto under = axes_of(r.point); !under.empty()) one["under"] = under;
  one["ended"] = ending_of(r);
  auto& metrics = one["metrics"] = nlohmann::ordered_json::object();
  for (const auto& m : r.metrics) {
    auto& here = metrics[m.name];
    here = {{"unit", m.unit}, {"median", rounded(m.median)}};
    if (!m.of_one_batch()) here["ci95"] = {rounded(m.ci95_low), rounded(m.ci95_high)};
    here["min"] = rounded(m.min);
    here["samples"] = m.samples;
    if (with_batches)
      for (const double each : m.raw) here["raw"].push_back(rounded(each));
  }
  return one;
}

// "all 1058 rows: 880 measured points, 60 earlier results of such points, 118 points without a number".
std::string counts_of(const std::vector<const page_row*>& rows) {
  std::size_t measured = 0, earlier = 0;
  for (const auto* row : rows)
    if (row->earlier) ++earlier;
    else if (row->of->has_metrics()) ++measured;
  std::vector<std::string> words{counted(measured, "measured point")};
  if (earlier > 0) words.push_back(counted(earlier, "earlier result") + " of such points");
  if (const auto rest = rows.size() - measured - earlier; rest > 0)
    words.push_back(counted(rest, "point") + " without a number");
  return fmt::format("all {}, of all studies: {}", counted(rows.size(), "row"), fmt::join(words, ", "));
}

}  // namespace

std::string html_attachments(const page& p) {
  std::string pictures, others;
  const auto is_drawn = [&](const page_row& row) {
    return std::ranges::any_of(p.sections, [&](const page_section& s) {
      return row.id.starts_with(s.rows) && s.id == s.rows + row.of->point.study && !s.shown.figures.empty();
    });
  };
  for (const auto& row : p.rows)
    for (const auto& one : row.of->attachments) {
      // A picture from a results file is embedded as an image, in which no script runs and nothing is loaded;
      // what its study draws on this page is not shown again.
      if (one.media_type == "image/svg+xml" && !is_drawn(row))
        pictures +=
            fmt::format("<figure class=\"drawing\"><div class=\"wide\"><img alt=\"{0}\" "
                        "src=\"data:image/svg+xml;base64,{1}\"></div><figcaption><a "
                        "href=\"#{3}\">{0}</a>, {2}</figcaption></figure>\n",
                        escaped(one.name), base64(one.content), escaped(name_of(row.of->point)), row.id);
      else if (one.media_type != "image/svg+xml")
        others += fmt::format("<li><a href=\"#{}\">{}</a>: {} ({}, {} bytes)</li>\n", row.id,
                              escaped(name_of(row.of->point)), escaped(one.name), escaped(one.media_type),
                              one.content.size());
    }
  if (pictures.empty() && others.empty()) return "";
  if (!others.empty())
    others =
        "<details><summary>what else the results files hold</summary><ul>" + others + "</ul></details>\n";
  return "<section id=\"attachments\"><h2>Attachments</h2>\n" + pictures + others + "</section>\n";
}

std::string html_rows(const page& p) {
  const auto rows = rows_of(p);
  if (rows.empty()) return "";
  auto text = fmt::format(
      "<section id=\"rows\"><h2>Every row</h2>\n<details class=\"all-rows\"><summary>{}</summary>\n"
      "<div class=\"wide\"><table>\n<thead><tr>",
      counts_of(rows));
  constexpr const char* columns[] = {"study",   "what",    "members", "ranks", "shape",
                                     "under",   "metric",  "median",  "ci95",  "least",
                                     "samples", "batches", "further", "ended", "file"};
  for (const auto* name : columns) text += fmt::format("<th scope=\"col\">{}</th>", name);
  text += "</tr></thead>\n<tbody>\n";
  for (const auto* row : rows) text += html_row(*row);
  return text + "</tbody></table></div></details></section>\n";
}

std::string json_of(const page& p) {
  constexpr std::size_t most_batches = 60'000;  // of about eight bytes
  std::size_t batches = 0;
  for (const auto& row : p.rows)
    for (const auto& m : row.of->metrics) batches += m.raw.size();
  nlohmann::ordered_json all;
  all["schema"] = "mgsync-report/2";
  all["files"] = nlohmann::ordered_json::array();
  for (const auto& f : p.files)
    all["files"].push_back({{"name", f.name},
                            {"command", fmt::format("{}", fmt::join(f.commands, "\n"))},
                            {"started", f.started},
                            {"machine", to_json(f.machine)}});
  all["results"] = nlohmann::ordered_json::array();
  for (const auto* row : rows_of(p))
    all["results"].push_back(json_of(*row, !p.brief && batches <= most_batches));
  const auto text = all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    if (c == '<') safe += "\\u003c";
    else safe += c;
  }
  return safe;
}

}  // namespace mgsync::report
