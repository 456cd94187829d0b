#include "src/report/figure_data.hpp"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "src/report/canvas.hpp"

namespace mgsync::report {
namespace {

std::string number(const std::optional<double>& value) { return value ? readable(*value) : "-"; }

void check(const chart& c) {
  const auto names = static_cast<double>(c.x.categories.size());
  if (names == 0) return;
  for (const auto& one : c.curves)
    for (const auto& p : one.points)
      if (!(p.x >= 0 && p.x < names))
        throw std::invalid_argument(fmt::format("the curve {} has a point beside the names below", one.name));
}

void check(const heat_map& map) {
  bool fits = map.values.size() == map.rows.size();
  for (const auto& row : map.values) fits = fits && row.size() == map.columns.size();
  if (!fits) throw std::invalid_argument("a heat map with other cells than its rows and columns have");
}

void check(const bar_chart&) {}
void check(const timeline&) {}

table data(const chart& c) {
  table t{c.heading, {"curve", {c.x.label, ">"}, {c.y.label, ">"}, "low | >", "high | >", "note"}};
  for (const auto& one : c.curves)
    for (const auto& p : one.points)
      t.add({one.name,
             c.x.categories.empty() ? readable(p.x) : c.x.categories.at(static_cast<std::size_t>(p.x)),
             readable(p.y), number(p.low), number(p.high), p.note},
            p.source);
  return t;
}

table data(const heat_map& map) {
  table t{map.heading, {fmt::format("{} \\ {} ({})", map.row_label, map.column_label, map.unit)}};
  for (const auto& column : map.columns) t.columns.push_back({column, ">"});
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    std::vector<table_entry> row{map.rows[r]};
    for (const auto& value : map.values.at(r)) row.push_back(number(value));
    t.add(row);
  }
  return t;
}

table data(const bar_chart& c) {
  table t{c.heading, {""}};
  for (const auto& part : c.part_names) t.columns.push_back({part, ">"});
  t.columns.insert(t.columns.end(), {{c.values.label, ">"}, "low | >", "high | >", "note"});
  for (const auto& b : c.bars) {
    std::vector<table_entry> row{b.name};
    for (std::size_t i = 0; i < c.part_names.size(); ++i)
      row.push_back(i < b.parts.size() ? readable(b.parts[i]) : "-");
    const double sum = sum_of(b);
    for (auto& word : {readable(sum), number(b.low), number(b.high), b.note}) row.push_back(word);
    t.add(row, b.source);
  }
  return t;
}

table data(const timeline& line) {
  table t{line.heading,
          {"track",
           "event",
           {fmt::format("begin ({})", line.unit), ">"},
           {fmt::format("end ({})", line.unit), ">"}}};
  for (const auto& one : line.tracks)
    for (const auto& e : one.events) t.add({one.name, e.name, readable(e.begin), readable(e.end)});
  return t;
}

}  // namespace

void check_parts(const figure& any) {
  std::visit([](const auto& one) { check(one); }, any);
}

table data_of(const figure& any) {
  check_parts(any);
  return std::visit([](const auto& one) { return data(one); }, any);
}

double sum_of(const bar& one) { return std::accumulate(one.parts.begin(), one.parts.end(), 0.0); }

}  // namespace mgsync::report
