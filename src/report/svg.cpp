#include "src/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "src/report/canvas.hpp"
#include "src/report/timeline_picture.hpp"

namespace mgsync::report {
namespace {

constexpr double width = picture_width, top = below_title, right = right_margin;

struct range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!std::isfinite(value)) throw std::invalid_argument("a figure with a value that is no number");
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

void axes(canvas& on, const scale& x, const scale& y, const ruler& across, const ruler& up, double left, double from, double to) {
  for (const auto& tick : up.ticks()) {
    on.line(left, tick.px, width - right, tick.px, "mg-grid");
    on.text(left - 6, tick.px + 4, tick.label, "mg-soft", "end");
  }
  double last = -1e9;
  for (const auto& tick : across.ticks()) {
    on.line(tick.px, to, tick.px, to + 4, "mg-axis");
    const double half = width_of(tick.label, 6) / 2;
    if (tick.px - half < last + 6) continue;  // no label over the one before
    on.text(tick.px, to + 17, tick.label, "mg-soft", "middle");
    last = tick.px + half;
  }
  on.line(left, to, width - right, to, "mg-axis");
  on.text((left + width - right) / 2, to + 36, x.label, "mg-text", "middle");
  on.text(18, (from + to) / 2, y.label, "mg-text", "middle", -90);
}

std::string draw(const chart& c, bool with_style) {
  range xs, ys;
  std::vector<std::pair<std::string, bool>> names;
  for (const auto& one : c.curves) {
    names.emplace_back(one.name, one.reference);
    for (const auto& p : one.points) {
      xs.add(p.x);
      ys.add(p.y);
      if (p.low) ys.add(*p.low);
      if (p.high) ys.add(*p.high);
      for (const double s : p.samples) ys.add(s);
    }
  }
  canvas on;
  const double from = legend(on, names, true), to = from + 300, left = 74;
  const ruler across(c.x, xs.low, xs.high, left + 6, width - right - 6, false), up(c.y, ys.low, ys.high, to, from);
  axes(on, c.x, c.y, across, up, left, from, to);
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    const auto& one = c.curves[i];
    std::vector<std::pair<double, double>> line, band;
    for (const auto& p : one.points) {
      line.emplace_back(across.at(p.x), up.at(p.y));
      if (p.high) band.emplace_back(across.at(p.x), up.at(*p.high));
    }
    for (auto p = one.points.rbegin(); p != one.points.rend(); ++p)
      if (p->low) band.emplace_back(across.at(p->x), up.at(*p->low));
    if (band.size() > 2) on.path(band, fmt::format("mg-band {}", of_color("f", i)), true);
    if (line.size() > 1) on.path(line, fmt::format("mg-line {}{}", of_color("l", i), one.reference ? " mg-dashed" : ""));
    for (const auto& p : one.points) {
      for (const double s : p.samples) on.dot(across.at(p.x), up.at(s), 1.5, fmt::format("mg-sample {}", of_color("f", i)));
      on.dot(across.at(p.x), up.at(p.y), one.points.size() > 60 ? 1.5 : 3, fmt::format("mg-mark {}", of_color("f", i)),
             fmt::format("{}: {} at {}{}{}", one.name, readable(p.y),
                         c.x.categories.empty() ? readable(p.x) : c.x.categories.at(static_cast<std::size_t>(p.x)),
                         p.note.empty() ? "" : ", ", p.note));
    }
  }
  return on.finish(c.heading, width, to + 50, with_style);
}

struct color {
  int r, g, b;
};

// Cividis (Nunez, Anderton and Renslow 2018) at nine places: of rising lightness for every reader, and on paper.
color cividis(double share) {
  static constexpr std::array<color, 9> stops{{{0, 34, 78}, {18, 53, 112}, {59, 73, 108}, {87, 93, 109}, {112, 113, 115},
                                               {138, 134, 120}, {165, 156, 116}, {195, 179, 105}, {254, 232, 56}}};
  const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double rest = place - static_cast<double>(i);
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + rest * (b - a))); };
  return {mix(stops[i].r, stops[i + 1].r), mix(stops[i].g, stops[i + 1].g), mix(stops[i].b, stops[i + 1].b)};
}

std::string draw(const heat_map& map, bool with_style) {
  range all;
  for (const auto& row : map.values)
    for (const auto& value : row)
      if (value) all.add(*value);
  if (!(all.low <= all.high)) throw std::invalid_argument("a heat map without a value");
  if (all.low <= 0) throw std::invalid_argument("a heat map shows values above 0 only");
  double names = 30;
  for (const auto& row : map.rows) names = std::max(names, width_of(row));
  const double left = 40 + names, from = top + 34;
  const double cell = std::clamp((width - right - left) / static_cast<double>(map.columns.size()), 34.0, 96.0), high = 30;
  canvas on;
  on.text(left, top, fmt::format("{} ({})", map.column_label, map.unit.empty() ? "no unit" : "cells in " + map.unit));
  for (std::size_t c = 0; c < map.columns.size(); ++c)
    on.text(left + (static_cast<double>(c) + 0.5) * cell, from - 8, map.columns[c], "mg-soft", "middle");
  const double to = from + high * static_cast<double>(map.rows.size());
  on.text(18, (from + to) / 2, map.row_label, "mg-text", "middle", -90);
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = from + high * static_cast<double>(r);
    on.text(left - 8, y + high / 2 + 4, map.rows[r], "mg-soft", "end");
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double x = left + cell * static_cast<double>(c);
      const auto& value = map.values.at(r).at(c);
      const auto where = fmt::format("{} {}, {} {}", map.row_label, map.rows[r], map.column_label, map.columns[c]);
      if (!value) {
        const auto why = r < map.holes.size() && c < map.holes[r].size() ? map.holes[r][c] : std::string();
        on.rectangle(x, y, cell, high, "mg-hole", fmt::format("{}: {}", where, why.empty() ? "not measured" : why));
        on.text(x + cell / 2, y + high / 2 + 4, "-", "mg-soft", "middle");
        continue;
      }
      const double share = all.high > all.low ? std::log(*value / all.low) / std::log(all.high / all.low) : 0.5;
      const auto fill = cividis(share);
      on.rectangle(x, y, cell, high, "mg-mark mg-cell", fmt::format("{}: {} {}", where, readable(*value), map.unit),
                   fmt::format("#{:02x}{:02x}{:02x}", fill.r, fill.g, fill.b));
      on.text(x + cell / 2, y + high / 2 + 4, readable(*value, true), share > 0.55 ? "mg-on-light" : "mg-on-dark", "middle");
    }
  }
  return on.finish(map.heading, std::max(width, left + cell * static_cast<double>(map.columns.size()) + right), to + 16, with_style);
}

std::string draw(const bar_chart& c, bool with_style) {
  range all;
  double names = 30;
  for (const auto& b : c.bars) {
    double sum = 0;
    for (const double part : b.parts) {
      if (part < 0) throw std::invalid_argument("a bar of negative length");
      sum += part;
    }
    all.add(sum);
    if (b.low) all.add(*b.low);
    if (b.high) all.add(*b.high);
    names = std::max(names, width_of(b.name));
  }
  if (!c.values.logarithmic) all.add(0);
  canvas on;
  std::vector<std::pair<std::string, bool>> parts;
  for (const auto& name : c.part_names) parts.emplace_back(name, false);
  const double from = legend(on, parts, false), left = std::min(30 + names, 300.0), high = 22;
  const double to = from + high * static_cast<double>(c.bars.size()), end = width - right - 150;  // values stand behind bars
  // On a logarithmic scale even the shortest bar has a length.
  const ruler across(c.values, c.values.logarithmic ? all.low / 2 : all.low, all.high, left, end);
  for (const auto& tick : across.ticks()) {
    on.line(tick.px, from, tick.px, to, "mg-grid");
    on.text(tick.px, to + 16, tick.label, "mg-soft", "middle");
  }
  for (std::size_t i = 0; i < c.bars.size(); ++i) {
    const auto& b = c.bars[i];
    const double y = from + high * static_cast<double>(i) + 3;
    on.text(left - 8, y + 12, b.name, "mg-text", "end");
    double sum = 0, x = left;
    for (std::size_t p = 0; p < b.parts.size(); ++p) {
      sum += b.parts[p];
      const double until = sum > 0 ? across.at(sum) : left;
      on.rectangle(x, y, until - x, high - 6, fmt::format("mg-mark {}{}", of_color("f", p), b.reference ? " mg-reference" : ""),
                   fmt::format("{}{}: {}", b.name, p < c.part_names.size() ? ", " + c.part_names[p] : "", readable(b.parts[p])));
      x = until;
    }
    if (b.low && b.high && *b.high > *b.low) on.line(across.at(*b.low), y + (high - 6) / 2, across.at(*b.high), y + (high - 6) / 2, "mg-error");
    const double behind = std::max(x, b.high ? across.at(*b.high) : x);
    on.text(behind + 6, y + 12, fmt::format("{}{}{}", readable(sum), b.note.empty() ? "" : ", ", b.note), "mg-soft");
  }
  on.line(left, from, left, to, "mg-axis");
  on.text((left + end) / 2, to + 34, c.values.label, "mg-text", "middle");
  return on.finish(c.heading, width, to + 46, with_style);
}

std::string draw(const timeline& t, bool with_style) { return draw_timeline(t, with_style); }

}  // namespace

std::string to_svg(const figure& what, bool with_style) {
  return std::visit([with_style](const auto& one) { return draw(one, with_style); }, what);
}

}  // namespace mgsync::report
