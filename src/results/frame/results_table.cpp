#include "src/results/frame/results_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
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
std::string cell_of(const result& one) {
  point anonymous = one.point;
  anonymous.subject.clear();
  anonymous.variant.clear();
  return canonical_text(anonymous);
}

bool has_interval(const result& one) { return one.has_metrics() && !one.metrics.front().of_one_batch(); }
bool is_ranked(const result& one) {
  return has_interval(one) && !one.orders_less() && one.metrics.front().better != better::neither;
}

struct cell_rows {
  frame<result> all;             // the best first, failed ones last
  const result* best = nullptr;  // of the ranked rows; nullptr: there are none
  std::size_t ranked = 0;        // rows with an interval that order no less than a barrier
  std::size_t tied = 0;          // rows of these that are not shown to differ from the best
  bool ties(const result& one) const {
    return is_ranked(one) && !is_shown_less(*best, one) && !is_shown_less(one, *best);
  }
};

// The results of one study that have the same first metric, and those that failed in it.
struct section {
  std::string study;
  const metric* measured = nullptr;  // the first metric of any; nullptr: all failed
  frame<result> rows;
  std::vector<const metric*> further;  // metrics of any row
  std::vector<cell_rows> cells;
};

std::vector<cell_rows> cells_of(const frame<result>& rows) {
  std::vector<cell_rows> cells;
  for (auto& [key, some] : groups(rows, cell_of)) {
    auto& cell = cells.emplace_back(cell_rows{std::move(some)});
    std::ranges::stable_sort(cell.all, [](const result* a, const result* b) {
      if (a->has_metrics() != b->has_metrics()) return a->has_metrics();
      return a->has_metrics() && a->metrics.front().better != better::neither &&
             times_worse(b->metrics.front(), a->metrics.front()) < 1;
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
      if (first(into.further,
                [&](const metric& m) { return column_name(m) == column_name(one.metrics[i]); }) == nullptr)
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
  return &one == cell.best && few_batches_of(one).empty() && one.doubts.empty() ? "*" : "";
}

// How many times as long as the best of its cell: "1.59x"; empty where that is not shown.
std::string times_of(const cell_rows& cell, const result& one) {
  if (!one.has_metrics() || !is_ranked(one) || cell.ties(one)) return "";
  const double times = times_worse(cell.best->metrics.front(), one.metrics.front());
  return times > 0 && std::isfinite(times) ? fmt::format("{:.{}f}x", times, times < 9.995 ? 2 : 0) : "";
}

// `some_mean_little`: some of the rows mean little, and others do not.
std::string note_of(const result& one, bool some_mean_little) {
  std::vector<std::string> words;
  const point& p = one.point;
  if (!one.has_metrics()) return "see below";
  if (auto few = few_batches_of(one); !few.empty()) words.push_back(std::move(few));
  // Why is said once, below the tables.
  if (some_mean_little && !one.doubts.empty()) words.emplace_back("means little");
  const std::string algorithm = one.found("algorithm");
  if (const std::string name = algorithm.substr(0, algorithm.find(':')); !name.empty() && name != p.variant)
    words.push_back(name);
  if (p.device == topology::device::gpu && p.ranks > 1 && !one.found("peer_memory").empty())
    words.push_back(one.found("peer_memory"));
  if (one.orders_inside_nodes()) words.emplace_back("memory inside nodes");
  words.insert(words.end(), one.notes.begin(), one.notes.end());
  return fmt::format("{}", fmt::join(words, ", "));
}

// "gradient" of "gradient_512": what columns of one row of numbers have in common, told in the first title
// alone. Empty: the name has no number at its end.
std::string_view stem_of(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos || last + 1 == name.size() || name[last] != '_'
             ? ""
             : name.substr(0, last);
}

// The unit in which a column's numbers can be read: times of less than 0.1 us in ns, of 10 ms and more in ms.
struct shown_unit {
  std::string name;  // of the column
  double factor = 1;
};
shown_unit unit_for(const section& all, const metric& shown) {
  double most = 0;
  for (const result* one : all.rows)
    if (const metric* m = one->find(shown.name); m != nullptr) most = std::max(most, m->median);
  if (shown.unit != "us" || !(most > 0) || (most >= 0.1 && most < 1e4)) return {column_name(shown)};
  metric scaled = shown;
  scaled.unit = most < 0.1 ? "ns" : "ms";
  return {column_name(scaled), most < 0.1 ? 1e3 : 1e-3};
}

// What the rows of a section have in common, which its heading says, and whether each column is shown.
struct look {
  bool members, ranks, shape, node, status;
  std::string heading;
};
look look_of(const section& all, const conditions& under) {
  const auto differ = [&](const auto& of) { return keys(all.rows, of).size() > 1; };
  const auto& p = all.rows.front()->point;
  look made{differ([](const result& r) { return std::pair(r.point.members, r.point.device); }),
            differ([](const result& r) { return r.point.ranks; }),
            differ([](const result& r) { return format_shape(r.point); }),
            differ([](const result& r) { return r.point.node; }),
            differ(status_of),
            {}};
  std::vector<std::string> words;
  if (!made.members) words.push_back(count_of_members(p));
  if (!made.ranks && p.ranks > 1) words.push_back(counted(p.ranks, "rank"));
  if (const auto shape = shape_in_words(p); !made.shape && !shape.empty()) words.push_back(shape);
  if (!made.node && !p.node.empty()) words.push_back("on " + p.node);
  words.insert(words.end(), under.common.begin(), under.common.end());
  if (!made.status)
    words.push_back(all.rows.size() == 1 ? status_of(*all.rows.front())
                                         : "all " + status_of(*all.rows.front()));
  made.heading = fmt::format("{}{}{}", all.study == point{}.study ? "" : "study " + all.study,
                             all.study == point{}.study || words.empty() ? "" : ": ", fmt::join(words, ", "));
  return made;
}

// A column: its title, the words of each row, and when it gives way.
struct shown_column {
  enum class place { always, if_any, if_wide };  // if_any: where some row has words
  column title;
  std::function<std::string(const cell_rows&, const result&)> words;
  place shown = place::always;
};

int most_decimals_of(const section& all, double factor) {
  int most = 0;
  for (const result* one : all.rows)
    if (one->has_metrics()) most = std::max(most, decimals_of(one->metrics.front().median * factor));
  return most;
}

std::vector<shown_column> columns_of(const section& all, const conditions& under, const look& shown) {
  using place = shown_column::place;
  std::vector<shown_column> made;
  const auto of_point = [&made](column title, auto words) {
    made.push_back(
        {std::move(title), [words](const cell_rows&, const result& one) { return words(one.point); }});
  };
  of_point({all.study == point{}.study ? "barrier" : "subject"}, subject_of);
  if (shown.members) of_point("members | >", [](const point& p) { return fmt::format("{}", p.members); });
  if (shown.ranks) of_point("ranks | >", [](const point& p) { return fmt::format("{}", p.ranks); });
  if (shown.shape) of_point("shape | >", format_shape);
  if (shown.node) of_point({"node"}, [](const point& p) { return p.node; });
  for (const auto& name : under.varying)
    of_point({name}, [name](const point& p) { return value_of(p, name); });

  const bool less = all.measured == nullptr || all.measured->better != better::more;
  const auto unit = all.measured == nullptr ? shown_unit{"median"} : unit_for(all, *all.measured);
  const int most = most_decimals_of(all, unit.factor);
  const auto number = [most, factor = unit.factor](const result& one, double metric::*value) {
    if (!one.has_metrics() || !std::isfinite(one.metrics.front().*value))
      return "-" + std::string(static_cast<std::size_t>(most), ' ');
    const metric& first = one.metrics.front();
    return aligned(first.*value * factor, decimals_of(first.median * factor), most);
  };
  made.push_back({{unit.name, ">"},
                  [number](const cell_rows&, const result& one) { return number(one, &metric::median); }});
  made.push_back({{"", "", 1}, mark_of});
  made.push_back(
      {{"ci95", "", 1}, [factor = unit.factor](const cell_rows&, const result& one) -> std::string {
         if (!has_interval(one)) return "-";
         const metric& first = one.metrics.front();
         const int decimals = decimals_of(first.median * factor);
         return fmt::format("{:.{}f}..{:.{}f}", first.ci95_low * factor, decimals, first.ci95_high * factor,
                            decimals);
       }});
  made.push_back({{"", ">"}, times_of, place::if_any});
  made.push_back({{less ? "min" : "max", ">"},
                  [number](const cell_rows&, const result& one) {
                    const bool least = !one.has_metrics() || one.metrics.front().better != better::more;
                    return number(one, least ? &metric::min : &metric::max);
                  },
                  place::if_wide});
  made.push_back({"samples | >",
                  [](const cell_rows&, const result& one) { return fmt::format("{}", one.samples.size()); },
                  place::if_wide});
  std::string before = all.measured == nullptr ? "" : all.measured->name;
  for (const metric* further : all.further) {
    const auto scaled = unit_for(all, *further);
    const auto title =
        scaled.name.substr(stem_of(before) == stem_of(further->name) ? stem_of(before).size() : 0);
    before = further->name;
    made.push_back({{title, ">"}, [further, scaled](const cell_rows&, const result& one) -> std::string {
                      const metric* found = one.find(further->name);
                      return found == nullptr ? "-" : format_number(found->median * scaled.factor);
                    }});
  }
  if (shown.status)
    made.push_back({{"status"}, [](const cell_rows&, const result& one) { return status_of(one); }});
  return made;
}

// The lines of the titles and of all rows.
std::vector<std::string> lines_of(const section& all, const std::vector<shown_column>& columns) {
  std::vector<column> titles;
  std::vector<std::vector<std::string>> rows(all.rows.size());
  for (const auto& each : columns) {
    std::vector<std::string> words;
    for (const cell_rows& cell : all.cells)
      for (const result* one : cell.all) words.push_back(each.words(cell, *one));
    if (each.shown == shown_column::place::if_any && std::ranges::all_of(words, &std::string::empty))
      continue;
    titles.push_back(each.title);
    for (std::size_t i = 0; i < words.size(); ++i) rows[i].push_back(std::move(words[i]));
  }
  return aligned_lines(titles, std::move(rows));
}

std::string legend(const section& all) {
  const auto any = [&all](bool tie) {
    return first(all.cells, [tie](const auto& c) { return c.ranked > 1 && (c.tied > 1) == tie; }) != nullptr;
  };
  const auto any_row = [&all](const auto& is) {
    return first(all.rows, &result::has_metrics, is) != nullptr;
  };
  const bool time = all.measured != nullptr && is_a_time(*all.measured);
  std::vector<std::string> parts;
  const std::string twice = fmt::format("2.00x {}", time ? "takes twice as long" : "is twice as bad");
  const auto is_won = [](const auto& c) { return c.best != nullptr && mark_of(c, *c.best) == "*"; };
  if (first(all.cells, is_won) != nullptr)
    parts.push_back(fmt::format("*  the {} of its group and shape: its 95 % interval overlaps no other; {}",
                                time ? "fastest" : "best", twice));
  else if (any(false)) parts.push_back(twice);
  if (any(true))
    parts.push_back(fmt::format("~  no difference shown: the 95 % interval overlaps that of the {}",
                                time ? "fastest" : "best"));
  if (any_row(std::not_fn(has_interval)))
    parts.push_back("?  one batch, or process, only: it has no interval, and neither wins nor ties");
  if (any_row(&result::orders_less))
    parts.push_back("<  orders less than a barrier, and neither wins nor ties (--less-order ranks it too)");
  if (any_row(&result::orders_inside_nodes))
    parts.push_back("memory inside nodes: between nodes it orders execution, and only what it carries");
  return parts.empty() ? "" : fmt::format("\n{}\n", fmt::join(parts, "\n"));
}

// Which library provided what was measured, where the results say so.
std::string libraries_of(const section& all) {
  const auto is_said = [](const result& r) { return r.facts && !r.facts->library.empty(); };
  const auto lines = keys(where(all.rows, is_said), [](const result& r) {
    return fmt::format("{} is that of {}", subject_of(r.point), r.facts->library);
  });
  return lines.empty() ? "" : fmt::format("\n{}\n", fmt::join(lines, "\n"));
}

// Of lines that end with a newline.
std::size_t width_of(const std::vector<std::string>& lines) {
  return std::ranges::max_element(lines, {}, &std::string::size)->size() - 1;
}

// The lines of the rows with their notes, which stand below their row where they are too long for it.
std::vector<std::string> with_notes(std::vector<std::string> lines, const std::vector<std::string>& notes,
                                    std::size_t columns) {
  const auto from = width_of(lines) + 2;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    auto& line = lines[i + 1];
    if (notes[i].empty()) continue;
    line.pop_back();
    if (from + notes[i].size() <= columns) line += std::string(from - line.size(), ' ') + notes[i] + "\n";
    else line += "\n    " + notes[i] + "\n";
  }
  return lines;
}

std::string format_section(const section& all, const terminal& on) {
  std::vector<const point*> points;
  for (const result* one : all.rows) points.push_back(&one->point);
  const conditions under = conditions_of(points);
  const auto shown = look_of(all, under);
  const auto columns = static_cast<std::size_t>(std::clamp(on.columns, 80, 100));
  auto shown_columns = columns_of(all, under, shown);
  auto lines = lines_of(all, shown_columns);
  std::vector<std::string> notes;
  const auto is_sure = [](const result* one) { return one->doubts.empty(); };
  const bool some_mean_little =
      std::ranges::any_of(all.rows, is_sure) && !std::ranges::all_of(all.rows, is_sure);
  for (const cell_rows& cell : all.cells)
    for (const result* one : cell.all) notes.push_back(note_of(*one, some_mean_little));
  constexpr std::size_t short_note = 45;
  std::size_t note = 0;
  for (const auto& one : notes) note = std::max(note, std::min(one.size(), short_note));
  if (width_of(lines) + (note == 0 ? 0 : 2 + note) > columns) {
    std::erase_if(shown_columns, [](const auto& one) { return one.shown == shown_column::place::if_wide; });
    lines = lines_of(all, shown_columns);
  }
  lines = with_notes(std::move(lines), notes, columns);
  const bool apart = all.rows.size() > all.cells.size();  // a blank line between cells of several rows
  std::string out = shown.heading.empty() ? "" : shown.heading + "\n";
  out += lines.front();
  std::size_t row = 1;
  for (const cell_rows& cell : all.cells) {
    if (apart && row > 1) out += '\n';
    for (const result* one : cell.all) {
      const bool bold = on.styled && one == cell.best && !mark_of(cell, *one).empty();
      out += bold ? "\x1b[1;32m" + lines[row].substr(0, lines[row].find('\n')) + "\x1b[0m" +
                        lines[row].substr(lines[row].find('\n'))
                  : lines[row];
      ++row;
    }
  }
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

std::string format_table(std::span<const result> results, detail wanted, const terminal& on) {
  std::string out;
  for (const section& each : sections_of(results))
    out += (out.empty() ? "" : "\n") + format_section(each, on);
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
