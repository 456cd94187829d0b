// The barriers of each group and shape, ranked: a picture each, and one line that says what the first is
// beside the others' makers.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync::barriers {
namespace {

constexpr std::size_t most_bars = 20;      // of one picture, but for barriers that a program can call
constexpr std::size_t most_pictures = 12;  // of one evaluation: --where chooses among more groups and shapes
// On a linear scale nothing could be seen of most bars beside one this many times as long as the middle one.
constexpr double too_long = 20;

// One group at one shape.
using cell_key =
    std::tuple<topology::device, std::string, int, std::string>;  // circumstances, members, shape
cell_key cell_of(const result& r) {
  return {r.point.device, circumstances_of(r.point), r.point.members, format_shape(r.point)};
}

// "2 GPUs, shape 1x32, one rank per member".
std::string name_of_cell(const point& p) {
  std::vector<std::string> words{count_of_members(p), shape_in_words(p), circumstances_of(p)};
  std::erase(words, "");
  return fmt::format("{}", fmt::join(words, ", "));
}

// Of many rows, the fastest first: the barriers that a program can call, and of each backend the fastest of
// the others, and of those that order less.
frame<result> shown_of(const frame<result>& rows) {
  if (rows.size() <= most_bars) return rows;
  std::set<std::pair<std::string, bool>> others;
  return where(rows, [&](const result& r) {
    const bool compared = is_compared(r);
    return (compared && is_callable(r)) || others.emplace(r.point.subject, compared).second;
  });
}

std::string note_of(const result& r) {
  std::vector<std::string_view> words;
  if (r.orders_less()) words.emplace_back("orders less");
  else if (!r.verdict.passed) words.emplace_back("not shown to be a barrier");
  if (!is_callable(r)) words.emplace_back("no call");
  if (keeps_registers_in_memory(r)) words.emplace_back("registers in memory");
  return fmt::format("{}", fmt::join(words, ", "));
}

// What the marks of these bars mean; nothing where no bar has one.
std::vector<std::pair<bar_marks, std::string>> legend_of(const std::vector<bar>& bars) {
  const std::tuple<bool bar_marks::*, bar_marks, const char*> all[] = {
      {&bar_marks::hollow, {.hollow = true}, "no call: no program can use it"},
      {&bar_marks::pale, {.pale = true}, "orders less than a barrier"},
      {&bar_marks::dashed, {.dashed = true}, "not shown to be a barrier"}};
  std::vector<std::pair<bar_marks, std::string>> legend;
  for (const auto& [mark, alone, words] : all)
    if (std::ranges::any_of(bars, [mark = mark](const bar& one) { return one.marks.*mark; }))
      legend.emplace_back(alone, words);
  if (!legend.empty()) legend.insert(legend.begin(), {bar_marks{}, "a barrier that a program can call"});
  return legend;
}

bar_chart ranked(const frame<result>& all) {
  const auto rows = shown_of(all);
  const auto& p = rows.front()->point;
  const auto shape = format_shape(p), under = circumstances_of(p);
  bar_chart chart{
      .heading = {word_for_names(fmt::format("ranked-{}-{}{}{}{}{}", to_string(p.device), p.members,
                                             shape.empty() ? "" : "-", shape, under.empty() ? "" : "-",
                                             under)),
                  "Ranked: " + name_of_cell(p),
                  "Medians, the fastest first; the lines are their 95 % intervals. ?: one batch only, and so "
                  "no interval."},
      .values = {"latency (us)"},
      .in_terminal = true};
  if (rows.size() < all.size())
    chart.heading.caption += fmt::format(" {} more are left out: of what no program can call, and of what "
                                         "orders less, each backend's fastest is here.",
                                         all.size() - rows.size());
  chart.heading.caption += words_on_registers(rows);
  for (const auto* r : rows) {
    const auto& m = first_metric(*r);
    const bool alone = m.of_one_batch();
    chart.bars.push_back({.name = subject_of(r->point) + (alone ? " ?" : ""),
                          .parts = {m.median},
                          .low = alone ? std::nullopt : std::optional(m.ci95_low),
                          .high = alone ? std::nullopt : std::optional(m.ci95_high),
                          .note = note_of(*r),
                          .reference = !is_compared(*r) || !is_callable(*r),
                          .source = short_key(r->point),
                          .subject = marked_subject_of(*r),
                          .file = r->file,
                          .marks = {.hollow = !is_callable(*r),
                                    .pale = r->orders_less(),
                                    .dashed = !r->orders_less() && !r->verdict.passed},
                          .is_range = !alone && !few_batches_of(*r).empty()});
  }
  if (std::ranges::any_of(chart.bars, &bar::is_range))
    chart.heading.caption += " Of fewer than six batches the line is their range.";
  chart.legend = legend_of(chart.bars);
  if (median_of(*rows.front()) > 0 &&
      median_of(*rows.back()) > too_long * median_of(*rows[(rows.size() - 1) / 2])) {
    chart.values.logarithmic = true;
    chart.heading.caption += " The scale is logarithmic.";
  }
  return chart;
}

}  // namespace

namespace {

// The fastest barrier of these that a program can call; nullptr where there is none.
const result* answer_of(const frame<result>& compared) {
  const auto* const answer = least(where(compared, is_callable), median_of);
  return answer != nullptr && answer->facts ? answer : nullptr;
}

}  // namespace

std::string beside_other_makers(const frame<result>& rows) {
  const auto compared = where(rows, is_compared);
  const auto* const answer = answer_of(compared);
  if (answer == nullptr) return "";
  // Of each other maker the fastest over the same workers.
  const auto of_others = where(compared, [&](const result& r) {
    return r.facts && !r.facts->maker.empty() && r.facts->maker != answer->facts->maker &&
           (r.facts->joins_grids() || r.facts->scope >= answer->facts->scope);
  });
  const auto maker_of = [](const result& r) { return r.facts->maker; };
  std::vector<std::string> others;
  frame<result> ranked;
  for (const auto& [maker, best] : least_by(of_others, maker_of, median_of)) ranked.push_back(best);
  std::ranges::sort(ranked, {}, [](const auto* r) { return median_of(*r); });
  for (const auto* r : ranked) {
    const auto few = few_batches_of(*r);
    const auto whose = fmt::format("{}'s {}{}", r->facts->maker, subject_of(r->point),
                                   few.empty() ? "" : fmt::format(" (of {})", few));
    const double times = median_of(*r) / median_of(*answer);
    if (!is_shown_less(*answer, *r)) others.push_back("not shown to be faster than " + whose);
    else if (times < 1.05) others.push_back(fmt::format("{:.1f} % faster than {}", 100 * (times - 1), whose));
    else
      others.push_back(fmt::format("{:.{}f}x faster than {}", times,
                                   times < 1.95   ? 2
                                   : times < 9.95 ? 1
                                                  : 0,
                                   whose));
  }
  return fmt::format("{}", fmt::join(others, ", "));
}

std::string headline(const frame<result>& rows) {
  const auto others = beside_other_makers(rows);
  if (others.empty()) return "";
  const auto& answer = *answer_of(where(rows, is_compared));
  return fmt::format("{} {:.3g} us on {}: {}{}.", subject_of(answer.point), median_of(answer),
                     name_of_cell(answer.point), others,
                     answer.doubts.empty() ? "" : "; that means little: " + words_of(answer.doubts));
}

void add_ranked(std::span<const result> all, evaluation& e) {
  // A part of a barrier, for which nobody waits, is none.
  const auto joins_some = [](const result& r) {
    return !r.facts || r.facts->extent != fact::extent::nothing;
  };
  auto cells = by(where(all, is_of(default_study), is_idle, can_be_drawn, joins_some), cell_of);
  std::erase_if(cells, [](const auto& one) { return one.second.size() < 2; });
  // Where there are many, those of the largest groups.
  if (cells.size() > most_pictures) {
    std::map<std::pair<topology::device, std::string>, int> largest;
    for (const auto& [where, rows] : cells) {
      auto& most = largest[{std::get<0>(where), std::get<1>(where)}];
      most = std::max(most, std::get<2>(where));
    }
    std::erase_if(cells, [&](const auto& one) {
      const auto& [device, under, members, shape] = one.first;
      return members < largest[{device, under}];
    });
  }
  std::vector<frame<result>> chosen;
  for (auto& [where, rows] : cells) {
    std::ranges::stable_sort(rows, {}, [](const auto* r) { return median_of(*r); });
    chosen.push_back(std::move(rows));
  }
  // Of too many those that compare most barriers.
  std::ranges::stable_sort(chosen, {}, [](const auto& rows) {
    return std::tuple(-rows.front()->point.members, -static_cast<int>(rows.size()),
                      place_of_shape(rows.front()->point));
  });
  chosen.resize(std::min(chosen.size(), most_pictures));
  // The largest groups first, and of the shapes those that fill all SMs.
  std::ranges::stable_sort(chosen, {}, [](const auto& rows) {
    const auto& p = rows.front()->point;
    return std::tuple(-p.members, p.number(axes::blocks).has_value(), place_of_shape(p));
  });
  for (const auto& rows : chosen) e.figures.push_back(ranked(rows));
}

}  // namespace mgsync::barriers
