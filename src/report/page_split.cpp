#include <algorithm>
#include <set>
#include <variant>

#include <fmt/format.h>

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
    page_section alone{"verdict", "", {}, {}, s.rows};
    auto part = part_of(whole, {s}, first ? whole.verdict : std::move(alone));
    if (first) part.drawings = whole.drawings;
    else part.title = fmt::format("{}: {}", s.title, whole.title);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace mgsync::report
