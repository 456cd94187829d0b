#include "src/report/reading.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "src/report/canvas.hpp"
#include "src/report/figure_data.hpp"
#include "src/results/frame/frame.hpp"

namespace mgsync::report {
namespace {

// The unit of an axis, "us" of "latency (us)".
std::string unit_of(std::string_view label) {
  const auto from = label.find('('), to = label.find(')');
  return from == label.npos || to == label.npos || to < from
             ? std::string()
             : " " + std::string(label.substr(from + 1, to - from - 1));
}

std::string times(double many) { return fmt::format("{:.{}f}", many, many < 10 ? 1 : 0); }

// How much longer: "4.2 % longer", "1.6 times as long".
std::string longer(double many) {
  if (many < 1.001) return "as long";
  return many < 1.1 ? fmt::format("{:.1f} % longer", 100 * (many - 1)) : times(many) + " times as long";
}

// Of the bars that a program can have, which are filled, the shortest, and how much longer the next and the
// longest are.
std::string reading(const bar_chart& c) {
  std::vector<const bar*> full;
  for (const auto& b : c.bars)
    if (!b.reference && sum_of(b) > 0 && !b.name.ends_with(" ?")) full.push_back(&b);
  if (!c.bars.empty() && std::ranges::all_of(c.bars, [](const bar& b) { return b.name.ends_with(" ?"); }))
    return "Each bar is one batch, which has no interval: which of them is faster was not shown.";
  if (full.size() < 2) return "";
  std::ranges::stable_sort(full, {}, [](const bar* b) { return sum_of(*b); });
  constexpr std::string_view times_of[] = {" ns", " us", " ms", " s", " cycles"};
  if (std::ranges::find(times_of, unit_of(c.values.label)) == std::end(times_of))
    return fmt::format("The longest bar is {}, {} {}.", full.back()->name, readable(sum_of(*full.back())),
                       c.values.label);
  const auto &first = *full.front(), &next = *full[1], &last = *full.back();
  const double least = sum_of(first);
  const bool others_take_less = std::ranges::any_of(
      c.bars, [&](const bar& b) { return b.reference && sum_of(b) > 0 && sum_of(b) < least; });
  auto text = fmt::format("{}{} takes least, {}{}", others_take_less ? "Of the filled bars, " : "",
                          first.name, readable(least), unit_of(c.values.label));
  if (first.low && first.high)
    text += fmt::format(" (between {} and {}{})", readable(*first.low), readable(*first.high),
                        first.is_range ? " in all batches, too few for 95 %" : " with 95 % confidence");
  std::vector<std::string> alike;
  for (const auto* b : full)
    if (b != &first && first.high && b->low && !is_shown_less(*first.high, *b->low, first.file == b->file))
      alike.push_back(b->name);
  const bool overlap = !alike.empty();
  text += overlap ? fmt::format("; no difference was shown to {}", fmt::join(alike, ", "))
                  : fmt::format("; {} takes {}", next.name, longer(sum_of(next) / least));
  if (full.size() > 2)
    text += fmt::format("{} {} takes {}", overlap ? ";" : ", and", last.name, longer(sum_of(last) / least));
  return text + ".";
}

// "From 1 to 4 GPUs", "From 8 B to 4 GiB of data".
std::string way_along(const scale& x, double from, double to) {
  constexpr std::string_view bytes = " (bytes)";
  if (x.label.ends_with(bytes))
    return fmt::format("From {} to {} of {}", size_in_words(from), size_in_words(to),
                       x.label.substr(0, x.label.size() - bytes.size()));
  if (x.categories.empty()) return fmt::format("From {} to {} {}", readable(from), readable(to), x.label);
  const auto at = [&](double value) { return x.categories.at(static_cast<std::size_t>(value)); };
  return fmt::format("From {} to {}", at(from), at(to));
}

// How the first curve, and the one that changes most, go from the left to the right.
std::string reading(const chart& c) {
  const auto unit = unit_of(c.y.label);
  const curve *first = nullptr, *steepest = nullptr;
  double most = 1;
  for (const auto& one : c.curves) {
    if (one.dots || one.reference || one.points.size() < 2 || !(one.points.front().y > 0)) continue;
    if (first == nullptr) first = &one;
    const double grows = one.points.back().y / one.points.front().y;
    if (grows > most) most = grows, steepest = &one;
  }
  if (first == nullptr) return "";
  const auto &from = first->points.front(), &to = first->points.back();
  const auto goes = [&](const curve& one) {
    const auto begin = readable(one.points.front().y), end = readable(one.points.back().y);
    return begin == end ? fmt::format("stays at {}{}", begin, unit)
                        : fmt::format("goes from {} to {}{}", begin, end, unit);
  };
  auto text = fmt::format("{}, {} {}", way_along(c.x, from.x, to.x), first->name, goes(*first));
  if (steepest != nullptr && steepest != first)
    text += fmt::format("; {} grows most, from {} to {}{}", steepest->name,
                        readable(steepest->points.front().y), readable(steepest->points.back().y), unit);
  return text + ".";
}

struct cell {
  double value = 0;
  std::size_t row = 0, column = 0;
};

std::optional<double> value_at(const heat_map& map, std::size_t row, std::size_t column) {
  return map.values.at(row).at(column);
}

// The row that grows most from the first column to the last, and what grows least: of barriers, what more
// blocks cost.
std::string growth(const heat_map& map) {
  const auto last = map.columns.size() - 1;
  std::optional<std::size_t> most, least;
  const auto grows = [&](std::size_t r) { return *value_at(map, r, last) / *value_at(map, r, 0); };
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    if (!value_at(map, r, 0) || !value_at(map, r, last)) continue;
    if (!most || grows(r) > grows(*most)) most = r;
    if (!least || grows(r) < grows(*least)) least = r;
  }
  if (!map.in_order || !most || most == least) return "";
  const auto from_to = [&](std::size_t r) {
    return fmt::format("{} from {} to {} {}", map.rows[r], readable(*value_at(map, r, 0)),
                       readable(*value_at(map, r, last)), map.unit);
  };
  if (!(grows(*most) > 1)) return "";
  return fmt::format(" From {} to {}, what grows most is {} ({} times); {} is {}.", map.columns.front(),
                     map.columns.back(), from_to(*most), times(grows(*most)),
                     grows(*least) < 1 ? "what falls most" : "what grows least", from_to(*least));
}

std::string reading(const heat_map& map) {
  std::optional<cell> least, most;
  for (std::size_t r = 0; r < map.values.size(); ++r)
    for (std::size_t c = 0; c < map.values[r].size(); ++c) {
      const auto& value = map.values[r][c];
      if (!value) continue;
      if (!least || *value < least->value) least = {*value, r, c};
      if (!most || *value > most->value) most = {*value, r, c};
    }
  if (!least || !(least->value < most->value)) return "";
  const auto where = [&](const cell& one) {
    return fmt::format("{} {} ({}: {}, {}: {})", readable(one.value), map.unit, map.row_label,
                       map.rows[one.row], map.column_label, map.columns[one.column]);
  };
  return fmt::format("The least is {}, the most {}.{}", where(*least), where(*most),
                     map.columns.size() > 1 && map.row_label == "barrier" ? growth(map) : "");
}

// How long each kind of event takes, half of them less and half more.
std::string reading(const timeline& t) {
  std::vector<std::pair<std::string, std::vector<double>>> kinds;
  for (const auto& one : t.tracks)
    for (const auto& e : one.events) {
      auto known = std::ranges::find(kinds, e.name, &std::pair<std::string, std::vector<double>>::first);
      if (known == kinds.end()) known = kinds.insert(kinds.end(), {e.name, {}});
      known->second.push_back(e.end - e.begin);
    }
  std::vector<std::string> words;
  for (auto& [name, took] : kinds) {
    std::ranges::sort(took);
    words.push_back(fmt::format("'{}' {} {}", name, readable(std::round(took[took.size() / 2])), t.unit));
  }
  return words.empty() ? "" : fmt::format("Median lengths of the bars: {}.", fmt::join(words, ", "));
}

}  // namespace

std::string reading_of(const figure& any) {
  return std::visit([](const auto& one) { return reading(one); }, any);
}

}  // namespace mgsync::report
