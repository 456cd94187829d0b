#include "src/results/comparison_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/columns.hpp"
#include "src/results/table.hpp"

namespace mgsync {
namespace {

constexpr std::array<column, 11> columns = {{{"backend"}, {"variant"}, {"members", false}, {"ranks", false},
                                             {"shape", false}, {"BASE_us", false}, {"NEW_us", false}, {"NEW/BASE", false},
                                             {"ci95"}, {"result"}, {"note"}}};
using row = row_of_words<columns.size()>;

std::string note_of(const compared_point& one) {
  std::vector<std::string> words;
  const point& p = one.point;
  if (!p.node.empty()) words.push_back("on " + p.node);
  if (p.device == topology::device::host && p.oversubscribed) words.push_back("oversubscribed");
  if (!p.pinned) words.push_back("not pinned");
  for (auto& word : circumstances_of(p)) words.push_back(std::move(word));
  if (!p.peer_memory_asked.empty()) words.push_back(p.peer_memory_asked);
  words.insert(words.end(), one.notes.begin(), one.notes.end());
  return fmt::format("{}", fmt::join(words, ", "));
}

row row_of(const compared_point& one) {
  const point& p = one.point;
  row cells{p.backend, p.variant, fmt::format("{}", p.members), fmt::format("{}", p.ranks), format_shape(p),
            format_us(one.base_us), format_us(one.new_us), "-", "-", std::string(to_string(one.what)), note_of(one)};
  if (one.what == change::too_few) return cells;
  cells[7] = fmt::format("{:.3f}", one.ratio);
  cells[8] = fmt::format("{:.3f}..{:.3f}", one.low, one.high);
  return cells;
}

// Slower, faster, the rest.
std::vector<const compared_point*> ordered(const comparison& compared) {
  std::vector<const compared_point*> points;
  for (const compared_point& one : compared.points) points.push_back(&one);
  const auto place = [](const compared_point& one) {
    return one.what == change::slower ? 0 : one.what == change::faster ? 1 : 2;
  };
  std::stable_sort(points.begin(), points.end(), [&](const compared_point* a, const compared_point* b) {
    if (place(*a) != place(*b)) return place(*a) < place(*b);
    return place(*a) < 2 && std::abs(std::log(a->ratio)) > std::abs(std::log(b->ratio));
  });
  return points;
}

std::string rows_text(const std::vector<const compared_point*>& points) {
  std::vector<row> rows{titles_of(columns)};
  for (const compared_point* one : points) rows.push_back(row_of(*one));
  std::string text;
  for (const auto& line : aligned_lines(columns, rows)) text += line;
  return text;
}

std::string listed(std::string_view word, const point& p, std::string_view reason) {
  return fmt::format("{}  {}:{} on {} in {} rank{}, shape {}{}{}\n", word, p.backend, p.variant, p.members, p.ranks,
                     p.ranks == 1 ? "" : "s", format_shape(p), reason.empty() ? "" : ": ", reason);
}

std::string unpaired(const comparison& compared) {
  std::string text;
  for (const lost_point& one : compared.lost)
    text += listed(one.failed ? "FAIL in NEW       " : "not measured in NEW", one.point, one.reason);
  for (const point& one : compared.only_base) text += listed("only in BASE      ", one, "");
  for (const point& one : compared.only_new) text += listed("only in NEW       ", one, "");
  return text;
}

std::string meaning(const comparison& compared) {
  const auto by_process = static_cast<std::size_t>(std::count_if(
      compared.points.begin(), compared.points.end(), [](const compared_point& one) { return one.by_process; }));
  const double margin = compared.points.front().margin;
  std::string text = fmt::format(
      "NEW/BASE: median of all quotients of two {} (Hodges and Lehmann); ci95: its 95 % interval from the ranks (Mann\n"
      "and Whitney)", by_process == compared.points.size() ? "processes" : "batches");
  if (margin > 0)
    text += fmt::format(", wider by {:.3g} % on either side (--noise): a process as a whole is shifted by 1 to 4 %, which\n"
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

std::string format_comparison(const comparison& compared) {
  const std::string others = unpaired(compared);
  if (compared.points.empty()) return others;
  const auto count = [&](change what) {
    return std::count_if(compared.points.begin(), compared.points.end(), [&](const auto& one) { return one.what == what; });
  };
  std::string text = rows_text(ordered(compared));
  if (!others.empty()) text += "\n" + others;
  text += fmt::format("\n{} slower, {} faster, {} without a difference shown", count(change::slower),
                      count(change::faster), count(change::not_shown));
  if (count(change::too_few) > 0) text += fmt::format(", {} with too few batches to tell", count(change::too_few));
  return text + "\n" + meaning(compared);
}

}  // namespace mgsync
