#include "src/results/frame/results_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/table.hpp"

namespace mgsync {
namespace {

int decimals_of(double value) {
  const double size = std::abs(value);
  if (size >= 1000 || !std::isfinite(size)) return 0;
  if (size >= 100) return 1;
  if (size >= 10) return 2;
  return size >= 1 ? 3 : 4;
}

// Pads numbers on the right, so that the decimal points of a column are aligned.
std::string aligned(double value, int decimals, int most_decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const int missing = decimals == 0 && most_decimals > 0 ? most_decimals + 1 : most_decimals - decimals;
  return text + std::string(static_cast<std::size_t>(missing), ' ');
}

// The key of a cell: everything that describes a point except its subject and variant.
std::string cell_of(const point& one) {
  point anonymous = one;
  anonymous.subject.clear();
  anonymous.variant.clear();
  return canonical_text(anonymous);
}

// Whether the two intervals overlap, so that no difference is shown.
bool overlap(const metric& a, const metric& b) {
  return a.ci95_low <= b.ci95_high && b.ci95_low <= a.ci95_high;
}

bool has_interval(const result& one) { return one.has_metrics() && !one.metrics.front().of_one_batch(); }
bool is_ranked(const result& one) { return has_interval(one) && !one.orders_less(); }

struct cell_rows {
  std::vector<const result*> all;  // the best first, failed ones last
  const result* best = nullptr;    // of the ranked rows; nullptr: there are none
  std::size_t ranked = 0;          // rows with an interval that order no less than a barrier
  std::size_t tied = 0;            // rows of these whose interval overlaps the best's
  bool ties(const result& one) const {
    return is_ranked(one) && overlap(one.metrics.front(), best->metrics.front());
  }
};

// The results of one study that have the same first metric, and those that failed in it.
struct section {
  std::string study;
  const metric* measured = nullptr;  // the first metric of any; nullptr: all failed
  std::vector<const result*> rows;
  std::vector<const metric*> further;  // metrics of any row
  std::vector<cell_rows> cells;
};

std::vector<cell_rows> cells_of(const std::vector<const result*>& rows) {
  std::vector<cell_rows> cells;
  std::map<std::string, std::size_t> place;
  for (const result* one : rows) {
    const auto [found, fresh] = place.try_emplace(cell_of(one->point), cells.size());
    if (fresh) cells.emplace_back();
    cells[found->second].all.push_back(one);
  }
  for (cell_rows& cell : cells) {
    std::stable_sort(cell.all.begin(), cell.all.end(), [](const result* a, const result* b) {
      if (a->has_metrics() != b->has_metrics()) return a->has_metrics();
      return a->has_metrics() && times_worse(b->metrics.front(), a->metrics.front()) < 1;
    });
    for (const result* one : cell.all) {
      if (!is_ranked(*one)) continue;
      if (cell.best == nullptr) cell.best = one;
      ++cell.ranked;
      if (one == cell.best || cell.ties(*one)) ++cell.tied;
    }
  }
  return cells;
}

std::vector<section> sections_of(std::span<const result> results) {
  std::vector<section> sections;
  const auto section_of = [&sections](const result& one) -> section& {
    const auto fits = [&one](const section& s) {
      return s.study == one.point.study && (!one.has_metrics() || s.measured == nullptr ||
                                            column_name(*s.measured) == column_name(one.metrics.front()));
    };
    const auto found = std::find_if(sections.begin(), sections.end(), fits);
    if (found != sections.end()) return *found;
    sections.emplace_back().study = one.point.study;
    return sections.back();
  };
  for (const result& one : results) {
    if (!one.has_metrics() && one.status != result_status::failed) continue;
    section& into = section_of(one);
    into.rows.push_back(&one);
    if (one.has_metrics() && into.measured == nullptr) into.measured = &one.metrics.front();
    for (std::size_t i = 1; i < one.metrics.size(); ++i)
      if (std::none_of(into.further.begin(), into.further.end(), [&](const metric* known) {
            return column_name(*known) == column_name(one.metrics[i]);
          }))
        into.further.push_back(&one.metrics[i]);
  }
  for (section& each : sections) each.cells = cells_of(each.rows);
  return sections;
}

std::string status_of(const result& one) {
  if (one.status == result_status::failed) return "FAIL";
  if (one.status != result_status::measured) return std::string(to_string(one.status));
  return std::string(word_of(one.verdict));
}

std::string mark_of(const cell_rows& cell, const result& one) {
  if (one.has_metrics() && one.metrics.front().of_one_batch()) return "?";
  if (one.has_metrics() && one.orders_less()) return "<";
  if (cell.ranked < 2 || !one.has_metrics()) return "";
  if (cell.tied > 1) return cell.ties(one) ? "~" : "";
  return &one == cell.best ? "*" : "";
}

std::string note_of(const cell_rows& cell, const result& one) {
  std::vector<std::string> words;
  const point& p = one.point;
  if (!one.has_metrics()) return "see below";
  const metric& first = one.metrics.front();
  if (const double times = is_ranked(one) ? times_worse(cell.best->metrics.front(), first) : 0;
      times > 0 && std::isfinite(times) && !cell.ties(one))
    words.push_back(fmt::format("{:.{}f}x", times, times < 9.995 ? 2 : 0));
  if (first.confidence < 0.95)
    words.push_back(counted(first.raw.size(), one.found("processes").empty() ? "batch" : "process", "es") +
                    " only");
  if (!p.node.empty()) words.push_back("on " + p.node);
  const std::string algorithm = one.found("algorithm");
  if (const std::string name = algorithm.substr(0, algorithm.find(':')); !name.empty() && name != p.variant)
    words.push_back(name);
  if (p.device == topology::device::gpu && p.ranks > 1 && !one.found("peer_memory").empty())
    words.push_back(one.found("peer_memory"));
  words.insert(words.end(), one.notes.begin(), one.notes.end());
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<column> columns_of(const section& all, const conditions& under) {
  const bool barriers = all.study == point{}.study;
  const bool less = all.measured == nullptr || all.measured->better == better::less;
  std::vector<column> columns{
      {barriers ? "backend" : "subject"}, {"variant"}, "members | >", "ranks | >", "shape | >"};
  for (const auto& name : under.varying) columns.push_back({name});
  columns.push_back({all.measured == nullptr ? "median" : column_name(*all.measured), ">"});
  columns.push_back({"", "", 1});
  columns.push_back({"ci95", "", 1});
  columns.push_back({less ? "min" : "max", ">"});
  columns.push_back("samples | >");
  for (const metric* one : all.further) columns.push_back({column_name(*one), ">"});
  columns.push_back({"status"});
  columns.push_back({"note"});
  return columns;
}

std::vector<std::string> row_of(const section& all, const conditions& under, const cell_rows& cell,
                                const result& one, int most_decimals) {
  const point& p = one.point;
  std::vector<std::string> words{p.subject, p.variant, fmt::format("{}", p.members),
                                 fmt::format("{}", p.ranks), format_shape(p)};
  for (const auto& name : under.varying) words.push_back(value_of(p, name));
  if (one.has_metrics()) {
    const metric& first = one.metrics.front();
    const int decimals = decimals_of(first.median);
    words.push_back(aligned(first.median, decimals, most_decimals));
    words.push_back(mark_of(cell, one));
    words.push_back(first.of_one_batch() ? "-"
                                         : fmt::format("{:.{}f}..{:.{}f}", first.ci95_low, decimals,
                                                       first.ci95_high, decimals));
    words.push_back(aligned(first.better == better::less ? first.min : first.max, decimals, most_decimals));
  } else {
    const std::string none = "-" + std::string(static_cast<std::size_t>(most_decimals), ' ');
    words.insert(words.end(), {none, "", "-", none});
  }
  words.push_back(fmt::format("{}", one.samples.size()));
  for (const metric* further : all.further) {
    const metric* found = one.find(further->name);
    words.push_back(found == nullptr ? "-" : format_number(found->median));
  }
  words.push_back(status_of(one));
  words.push_back(note_of(cell, one));
  return words;
}

std::string legend(const section& all) {
  const auto any = [&all](bool tie) {
    return std::any_of(all.cells.begin(), all.cells.end(),
                       [tie](const cell_rows& cell) { return cell.ranked > 1 && (cell.tied > 1) == tie; });
  };
  const bool time = all.measured != nullptr && is_a_time(*all.measured);
  std::vector<std::string> parts;
  if (any(false))
    parts.push_back(
        fmt::format("*  the {} of its group and shape: its 95 % interval overlaps no other; 2.00x {}",
                    time ? "fastest" : "best", time ? "takes twice as long" : "is twice as bad"));
  if (any(true))
    parts.push_back(fmt::format("~  no difference shown: the 95 % interval overlaps that of the {}",
                                time ? "fastest" : "best"));
  if (std::any_of(all.rows.begin(), all.rows.end(),
                  [](const result* one) { return one->has_metrics() && !has_interval(*one); }))
    parts.push_back("?  one batch, or process, only: it has no interval, and neither wins nor ties");
  if (std::any_of(all.rows.begin(), all.rows.end(),
                  [](const result* one) { return one->has_metrics() && one->orders_less(); }))
    parts.push_back("<  orders less than a barrier, and neither wins nor ties (--less-order ranks it too)");
  return parts.empty() ? "" : fmt::format("\n{}\n", fmt::join(parts, "\n"));
}

// Which library provided what was measured, where the results say so.
std::string libraries_of(const section& all) {
  std::vector<std::string> lines;
  for (const result* one : all.rows) {
    if (!one->facts || one->facts->library.empty()) continue;
    auto line = fmt::format("{} is that of {}", subject_of(one->point), one->facts->library);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines.empty() ? "" : fmt::format("\n{}\n", fmt::join(lines, "\n"));
}

std::string format_section(const section& all) {
  std::vector<const point*> points;
  int most_decimals = 0;
  for (const result* one : all.rows) {
    points.push_back(&one->point);
    if (one->has_metrics()) most_decimals = std::max(most_decimals, decimals_of(one->metrics.front().median));
  }
  const conditions under = conditions_of(points);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> breaks;  // indices of the lines before which a cell begins
  for (const cell_rows& cell : all.cells) {
    breaks.push_back(rows.size() + 1);
    for (const result* one : cell.all) rows.push_back(row_of(all, under, cell, *one, most_decimals));
  }
  const bool apart = rows.size() > all.cells.size();  // a blank line between cells, unless all hold one row
  const auto lines = aligned_lines(columns_of(all, under), std::move(rows));
  std::string out = all.study == point{}.study ? "" : fmt::format("study {}\n", all.study);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (apart && i > 1 && std::find(breaks.begin(), breaks.end(), i) != breaks.end()) out += '\n';
    out += lines[i];
  }
  if (!under.common.empty()) out += fmt::format("\nall rows: {}\n", fmt::join(under.common, ", "));
  out += libraries_of(all) + legend(all);
  if (const std::string summary = summary_of(all.rows); !summary.empty()) out += "\n" + summary + "\n";
  return out;
}

// The results with one status that have no row in a table.
std::vector<not_measured> ended_so(std::span<const result> results, result_status status) {
  std::vector<not_measured> all;
  for (const result& one : results)
    if (one.status == status && (status == result_status::failed || !one.has_metrics()))
      all.push_back({&one.point, one.reason});
  return all;
}

}  // namespace

std::string format_number(double value) { return fmt::format("{:.{}f}", value, decimals_of(value)); }

std::string format_table(std::span<const result> results, detail wanted) {
  std::string out;
  for (const section& each : sections_of(results)) out += (out.empty() ? "" : "\n") + format_section(each);
  for (const auto& [status, word] :
       {std::pair{result_status::failed, "FAIL"}, std::pair{result_status::error, "error"},
        std::pair{result_status::interrupted, "ended"}, std::pair{result_status::waived, "waived"}}) {
    const auto those = ended_so(results, status);
    if (those.empty()) continue;
    const bool each = wanted == detail::every || status == result_status::failed;
    out += (out.empty() ? "" : "\n") + (each ? each_of(word, those) : by_reason(word, those, results.size()));
  }
  return out;
}

}  // namespace mgsync
