#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "src/report/page_parts.hpp"

namespace mgsync::report {
namespace {

void add_sources(const chart& c, std::set<std::string>& to) {
  for (const auto& one : c.curves)
    for (const auto& p : one.points) to.insert(p.source);
}
void add_sources(const heat_map& map, std::set<std::string>& to) {
  for (const auto& row : map.sources) to.insert(row.begin(), row.end());
}
void add_sources(const bar_chart& c, std::set<std::string>& to) {
  for (const auto& one : c.bars) to.insert(one.source);
}
void add_sources(const timeline&, std::set<std::string>&) {}

}  // namespace

std::set<std::string> linked_from(const page_section& s) {
  std::set<std::string> sources;
  for (const auto& one : s.shown.figures)
    std::visit([&](const auto& each) { add_sources(each, sources); }, one);
  for (const auto& t : s.shown.tables) sources.insert(t.sources.begin(), t.sources.end());
  std::set<std::string> ids;
  for (const auto& one : sources) ids.insert(s.rows + one);
  return ids;
}

namespace {

// The page of some sections: their rows, and the files that these are from.
page part_of(const page& whole, std::vector<page_section> sections, page_section verdict) {
  auto part = whole;
  part.drawings.clear();
  part.rows.clear();
  part.files.clear();
  auto linked = linked_from(verdict);
  for (const auto& s : sections) linked.merge(linked_from(s));
  std::vector<std::size_t> files;
  for (auto row : whole.rows) {
    const bool of_section =
        std::ranges::any_of(sections, [&](const auto& s) { return s.id == s.rows + row.of->point.study; });
    if (!of_section && !linked.contains(row.id)) continue;
    auto at = std::ranges::find(files, row.file);
    if (at == files.end()) at = files.insert(at, row.file), part.files.push_back(whole.files.at(row.file));
    row.file = static_cast<std::size_t>(at - files.begin());
    part.rows.push_back(std::move(row));
  }
  if (part.files.size() < whole.files.size())
    part.subtitle = part.files.empty() ? "" : counted(part.files.size(), "file");
  part.sections = std::move(sections);
  part.verdict = std::move(verdict);
  return part;
}

}  // namespace

std::vector<page> by_section(const page& whole) {
  std::vector<page> parts;
  for (const auto& s : whole.sections) {
    if (is_empty(s)) continue;
    const bool first = parts.empty();
    page_section alone{
        "verdict", "", {.sentences = s.above, .in_parts = whole.verdict.shown.in_parts}, {}, s.rows};
    auto part = part_of(whole, {s}, first ? whole.verdict : std::move(alone));
    if (first) part.drawings = whole.drawings;
    else part.title = fmt::format("{}: {}", s.title, whole.title);
    parts.push_back(std::move(part));
  }
  return parts;
}

namespace {

// How much higher a picture is shown than drawn.
constexpr double enlarged = 1.25;

double picture_height(const chart&) { return 420; }
double picture_height(const heat_map& map) { return 150 + 30 * static_cast<double>(map.rows.size()); }
double picture_height(const bar_chart& c) { return 110 + 22 * static_cast<double>(c.bars.size()); }
double picture_height(const timeline& t) {
  return 160 + std::min(900.0, 22 * static_cast<double>(t.tracks.size()));
}

}  // namespace

double height_of(const page_section& s) {
  constexpr double letters = 92, line = 26, row = 34, words_below_figure = 190, around_table = 130;
  double sum = s.title.empty() ? 0 : 100;
  for (const auto& sentence : s.shown.sentences)
    sum += line * (1 + std::floor(static_cast<double>(sentence.size()) / letters));
  const auto& all = s.shown.figures;
  for (std::size_t i = 0; i < all.size();) {
    double highest = 0;
    const auto end = end_of_set(all, i);
    const double buttons = end - i > 1 ? 80 + 6 * static_cast<double>(end - i) : 0;
    for (; i < end; ++i)
      highest = std::max(highest, std::visit([](const auto& one) { return picture_height(one); }, all[i]));
    sum += enlarged * highest + words_below_figure + buttons;
  }
  for (const auto& t : s.shown.tables)
    sum += is_folded(t) ? line : around_table + row * static_cast<double>(t.rows.size());
  return sum;
}

void fold(page& p) {
  constexpr double title = 110;
  double sum = height_of(p.verdict) + 600 * static_cast<double>(p.drawings.size());
  bool first = true;
  for (auto& s : p.sections) {
    if (is_empty(s)) continue;
    const double high = height_of(s);
    s.folded = !first && sum + high > most_height;
    sum += s.folded ? title : high;
    first = false;
  }
}

namespace {

// The largest section with figures, but the first that is not empty: one of barriers only where there is no
// other, as they are what most readers come for, and that of the headline last. Its index, or nothing.
std::optional<std::size_t> least_missed(const page& p) {
  std::optional<std::size_t> index;
  std::tuple<bool, bool, std::size_t> most;  // not of the headline?, of another study?, bytes
  std::size_t before = 0;
  const auto headline = std::ranges::find_if(p.sections, has_headline);
  for (std::size_t i = 0; i < p.sections.size(); ++i) {
    const auto& s = p.sections[i];
    const bool is_headlines = &s == std::to_address(headline);
    if (is_empty(s) || before++ == 0) continue;
    if (is_headlines ? std::ranges::all_of(s.shown.figures, is_of_headline) : s.shown.figures.empty())
      continue;
    const auto bytes = html_section(s, palette(palette::pictures{})).size();
    const std::tuple of_section{!is_headlines, s.id != s.rows + "barriers", bytes};
    if (!index || of_section > most) most = of_section, index = i;
  }
  return index;
}

// Leaves of a section its sentences and short tables, and the headline's figures where they are its own; its
// rows go too, but for those that others link to.
void shorten(page& p, page_section& shortened) {
  auto& shown = shortened.shown;
  const bool is_headlines = &shortened == std::to_address(std::ranges::find_if(p.sections, has_headline));
  shortened.folded = true;
  std::erase_if(shown.figures, [&](const figure& one) { return !is_headlines || !is_of_headline(one); });
  std::erase_if(shown.tables, is_folded);
  for (auto& t : shown.tables) t.sources.clear();
  shown.sentences.insert(shown.sentences.begin(), "Only sentences and short tables are here: see above.");
  auto linked = linked_from(p.verdict);
  for (const auto& s : p.sections) linked.merge(linked_from(s));
  std::erase_if(p.rows, [&](const page_row& row) {
    return shortened.id == shortened.rows + row.of->point.study && !linked.contains(row.id);
  });
}

}  // namespace

std::vector<std::string> fit(page& p, std::size_t bytes) {
  std::vector<std::string> titles;
  if (to_html(p).size() <= bytes) return titles;
  p.brief = true;
  auto& sentences = p.verdict.shown.sentences;
  const auto at = sentences.size();
  while (to_html(p).size() > bytes) {
    const auto index = least_missed(p);
    if (!index) break;
    titles.push_back(p.sections[*index].title);
    shorten(p, p.sections[*index]);
    sentences.resize(at);
    sentences.push_back(fmt::format(
        "Left out here, as one page would be too large: figures, long tables and rows of {}. With "
        "the name of a folder, --html FOLDER/, each has a page.",
        fmt::join(titles, ", ")));
  }
  return titles;
}

}  // namespace mgsync::report
