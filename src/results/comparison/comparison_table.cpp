#include "src/results/comparison/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/comparison/shift_interval.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/results_table.hpp"
#include "src/results/frame/table.hpp"

namespace mgsync {
namespace {

std::string note_of(const compared_point& one) {
  std::vector<std::string> words = one.notes;
  if (!one.point.node.empty()) words.insert(words.begin(), "on " + one.point.node);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> row_of(const compared_point& one, const conditions& under) {
  const point& p = one.point;
  std::vector<std::string> words{subject_of(p), fmt::format("{}", p.members), fmt::format("{}", p.ranks),
                                 format_shape(p)};
  for (const auto& name : under.varying) words.push_back(value_of(p, name));
  words.push_back(format_number(one.base_median));
  words.push_back(format_number(one.new_median));
  const bool shown = one.has_ratio();
  words.push_back(shown ? fmt::format("{:.3f}", one.ratio) : "-");
  words.push_back(shown ? fmt::format("{:.3f}..{:.3f}", one.low, one.high) : "-");
  words.emplace_back(word_of(one.what, one.measured));
  words.push_back(note_of(one));
  return words;
}

std::vector<column> columns_of(const metric_name& measured, const conditions& under) {
  std::vector<column> columns{{"barrier"}, "members | >", "ranks | >", "shape | >"};
  for (const auto& name : under.varying) columns.push_back({name});
  const bool latency = column_name(measured) == "latency_us";
  for (const auto* side : {"BASE", "NEW"})
    columns.push_back({fmt::format("{}_{}", side, latency ? "us" : column_name(measured)), ">"});
  columns.insert(columns.end(), {"NEW/BASE | >", {"ci95"}, {"result"}, {"note"}});
  return columns;
}

bool is_the_same(const compared_point& one) {
  return one.notes.empty() && (one.what == change::not_shown || one.what == change::too_few);
}

// Slower, faster, the rest.
frame<compared_point> ordered(frame<compared_point> points) {
  const auto place = [](const compared_point* one) {
    const int group = one->what == change::worse ? 0 : one->what == change::improved ? 1 : 2;
    return std::pair(group, group < 2 ? -std::abs(std::log(one->ratio)) : 0.0);
  };
  std::ranges::stable_sort(points, {}, place);
  return points;
}

std::string rows_text(const frame<compared_point>& rows) {
  std::vector<const point*> points;
  for (const compared_point* one : rows) points.push_back(&one->point);
  const conditions under = conditions_of(points);
  std::vector<std::vector<std::string>> words;
  for (const compared_point* one : rows) words.push_back(row_of(*one, under));
  std::string text;
  for (const auto& line : aligned_lines(columns_of(rows.front()->measured, under), std::move(words)))
    text += line;
  if (!under.common.empty()) text += fmt::format("all rows: {}\n", fmt::join(under.common, ", "));
  return text;
}

std::string line_of(std::string_view word, const point& p, std::string_view reason) {
  return fmt::format("{}  {}{}{}\n", word, name_of(p), reason.empty() ? "" : ": ", reason);
}

std::string unpaired(const comparison& compared) {
  std::string text;
  for (const lost_point& one : compared.lost)
    text += line_of(one.status == result_status::failed ? "FAIL in NEW       " : "not measured in NEW",
                    one.point, one.reason);
  for (const point& one : compared.only_base) text += line_of("only in BASE      ", one, "");
  for (const point& one : compared.only_new) text += line_of("only in NEW       ", one, "");
  return text;
}

std::string meaning(const comparison& compared) {
  const auto by_process = where(compared.points, &compared_point::by_process).size();
  const double margin = compared.points.front().margin;
  std::string text = fmt::format("NEW/BASE: median of all quotients of two {} (Hodges and Lehmann); ci95: "
                                 "its 95 % interval from the ranks (Mann\n"
                                 "and Whitney)",
                                 by_process == compared.points.size() ? "processes" : "batches");
  if (margin > 0)
    text += fmt::format(
        ", wider by {:.3g} % on either side (--noise): a process as a whole is shifted by 1 to 4 %, which\n"
        "its own batches do not show. Four files a side, each of a process of its own, do without",
        100 * margin);
  text += ".\n";
  // Only the margin guards against finding something among many.
  constexpr std::size_t many = 20;
  if (margin == 0 && compared.points.size() >= many)
    text += fmt::format("Of {} points without any difference about {:.0f} would look changed by chance.\n",
                        compared.points.size(), 0.05 * static_cast<double>(compared.points.size()));
  return text;
}

}  // namespace

std::string format_comparison(const comparison& compared, detail wanted) {
  const std::string others = unpaired(compared);
  if (compared.points.empty()) return others;
  const bool times =
      first(compared.points, [](const auto& one) { return !is_a_time(one.measured); }) == nullptr;
  const auto count = [&](change what) {
    return where(compared.points, [what](const auto& one) { return one.what == what; }).size();
  };
  // Grouped leaves out where nothing has changed.
  const auto is_shown = [&](const compared_point& one) {
    return wanted == detail::every || !is_the_same(one);
  };
  const auto metric_of = [](const compared_point& one) { return column_name(one.measured); };
  std::string text;
  for (const auto& [metric, all] : groups(compared.points, metric_of))
    if (const auto rows = where(all, is_shown); !rows.empty())
      text += (text.empty() ? "" : "\n") + rows_text(ordered(rows));
  if (!others.empty()) text += (text.empty() ? "" : "\n") + others;
  text += fmt::format("{}{} {}, {} {}, {} without a difference shown", text.empty() ? "" : "\n",
                      count(change::worse), times ? "slower" : "worse", count(change::improved),
                      times ? "faster" : "better", count(change::not_shown));
  if (count(change::too_few) > 0)
    text += fmt::format(", {} with too few batches to tell", count(change::too_few));
  if (count(change::no_ratio) > 0) text += fmt::format(", {} of 0 or below", count(change::no_ratio));
  text +=
      where(compared.points, is_shown).size() < compared.points.size() ? " (--verbose lists each)\n" : "\n";
  for (const auto& sentence : doubtful_sides(compared)) text += sentence + "\n";
  return text + meaning(compared);
}

std::vector<result> ratios_of(const comparison& compared) {
  std::vector<result> all;
  for (const auto& one : compared.points) {
    if (!one.decides || !one.has_ratio()) continue;
    metric ratio{{"NEW/BASE", "", one.measured.better}};
    ratio.median = one.ratio;
    ratio.min = ratio.ci95_low = one.low;
    ratio.max = ratio.ci95_high = one.high;
    ratio.raw = {one.low, one.high};
    auto& made = all.emplace_back();
    made.point = one.point;
    made.status = result_status::measured;
    made.metrics = {std::move(ratio)};
    made.quantities["medians"] = {"", {one.new_median / one.base_median}};
  }
  return all;
}

std::string table_by_subject(const comparison& compared, double limit) {
  const auto points = where(compared.points, [](const auto& one) { return one.decides && one.has_ratio(); });
  // p of "worse by more than limit" by point, the smallest times their number, the next times one less, ...
  std::map<const compared_point*, double> p;
  for (const auto* one : points) {
    auto was = one->base_values, is = one->new_values;
    if (one->measured.better == better::more) std::swap(was, is);
    for (double& value : was) value *= 1 + limit;
    p[one] = chance_above(was, is);
  }
  auto least_first = points;
  std::ranges::stable_sort(least_first, {}, [&](const auto* one) { return p.at(one); });
  double worst = 0;
  for (std::size_t i = 0; i < least_first.size(); ++i) {
    double& mine = p.at(least_first[i]);
    mine = worst = std::max(worst, std::min(1.0, mine * static_cast<double>(least_first.size() - i)));
  }
  table t{{"subjects", "NEW over BASE"},
          {"barrier",
           "points | >",
           "NEW / BASE, mean | >",
           "of its points",
           {fmt::format("least p of \"over {:g} % worse\", corrected", 100 * limit), ">"},
           "points shown to be"}};
  for (const auto& [subject, mine] : groups(points, [](const auto& one) { return subject_of(one.point); })) {
    const auto [low, high] = std::ranges::minmax(mine, {}, &compared_point::ratio);
    double logarithms = 0, least = 1;
    std::vector<std::string> shown;
    for (const auto* one : mine) {
      logarithms += std::log(one->ratio);
      least = std::min(least, p.at(one));
      if (p.at(one) < 0.05)
        shown.push_back(
            fmt::format("{} {} {:.3f}", count_of_members(one->point), format_shape(one->point), one->ratio));
    }
    t.add({subject, fmt::format("{}", mine.size()),
           fmt::format("{:.3f}", std::exp(logarithms / static_cast<double>(mine.size()))),
           fmt::format("{:.3f} to {:.3f}", low->ratio, high->ratio), fmt::format("{:.2g}", least),
           shown.empty() ? "none" : fmt::format("{}", fmt::join(shown, ", "))});
  }
  return to_markdown(t);
}

}  // namespace mgsync
