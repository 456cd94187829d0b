#include "src/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "src/report/figure_data.hpp"
#include "src/report/timeline_picture.hpp"

namespace mgsync::report {
namespace {

constexpr double width = picture_width, top = below_title, right = right_margin;

struct range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!can_be_drawn(value))
      throw std::invalid_argument("a figure with a value that is no number, or too large");
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct frame {
  double left, right, from, to;
  bool counts = false;  // the axis shows whole numbers only
};

// Draws each tick with its line, and below it its number, unless that would overlap the one before.
template <class Line>
void number_ticks(canvas& on, const ruler& across, double y, bool whole_only, const Line& line) {
  double last = -1e9;
  for (const auto& tick : across.ticks()) {
    if (whole_only && tick.label.find('.') != std::string::npos) continue;
    line(tick.px);
    const double half = width_of(tick.label, 6) / 2;
    if (tick.px - half < last + 6) continue;
    on.text(tick.px, y, tick.label, "mg-soft", "middle");
    last = tick.px + half;
  }
}

void axes(canvas& on, const scale& x, const scale& y, const ruler& across, const ruler& up, const frame& in) {
  const auto [left, end, from, to, counts] = in;
  for (const auto& tick : up.ticks()) {
    on.line(left, tick.px, end, tick.px, "mg-grid");
    on.text(left - 6, tick.px + 4, tick.label, "mg-soft", "end");
  }
  number_ticks(on, across, to + 17, counts,
               [&, bottom = to](double x) { on.line(x, bottom, x, bottom + 4, "mg-axis"); });
  on.line(left, to, end, to, "mg-axis");
  on.text((left + end) / 2, to + 36, fitted(x.label, end - left), "mg-text", "middle");
  on.text(18, (from + to) / 2, fitted(y.label, to - from), "mg-text", "middle", -90);
}

constexpr double most_name = 232, name_letter = 6.6;  // of a curve, in pixels

// Places the names at the ends of their curves, in the order of the ends and without overlaps.
void name_curves(canvas& on, const chart& c, const palette& colors, const ruler& across, const ruler& up,
                 double from, double to) {
  struct label {
    double x, y;
    std::size_t index;
  };
  std::vector<label> labels;
  for (std::size_t i = 0; i < std::min(c.curves.size(), colored); ++i) {
    const auto& last = c.curves[i].points.back();
    labels.push_back({across.at(last.x), up.at(last.y), i});
  }
  std::sort(labels.begin(), labels.end(), [](const label& a, const label& b) { return a.y < b.y; });
  double end = 0;
  for (const auto& one : labels) end = std::max(end, one.x);
  // Neighbours that would overlap form a block centred at the middle of their ends.
  constexpr double spacing = 14;
  struct block {
    double middle;
    std::size_t count;
    double top() const { return middle - spacing * static_cast<double>(count - 1) / 2; }
    double bottom() const { return middle + spacing * static_cast<double>(count - 1) / 2; }
  };
  std::vector<block> blocks;
  const auto inside = [&](block b) {
    const double half = spacing * static_cast<double>(b.count - 1) / 2;
    b.middle = std::clamp(b.middle, from + half, std::max(from + half, to - half));
    return b;
  };
  for (const auto& one : labels) {
    blocks.push_back(inside({one.y, 1}));
    while (blocks.size() > 1 && blocks.back().top() < blocks[blocks.size() - 2].bottom() + spacing) {
      const auto last = blocks.back();
      blocks.pop_back();
      auto& before = blocks.back();
      const auto all = static_cast<double>(before.count + last.count);
      before = inside({(before.middle * static_cast<double>(before.count) +
                        last.middle * static_cast<double>(last.count)) /
                           all,
                       before.count + last.count});
    }
  }
  std::vector<double> places;
  for (const auto& one : blocks)
    for (std::size_t i = 0; i < one.count; ++i)
      places.push_back(one.top() + spacing * static_cast<double>(i));
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const auto& of = labels[k];
    if (std::abs(places[k] - of.y) > 3 || of.x < end)
      on.path({{of.x + 5, of.y}, {end + 14, places[k]}},
              fmt::format("mg-leader {}", of_color("l", colors.of(c.curves[of.index].name).value_or(0))));
    on.text(end + 17, places[k] + 4, fitted(c.curves[of.index].name, most_name, name_letter));
  }
}

void draw_curve(canvas& on, const chart& c, std::size_t index, const palette& colors, const ruler& across,
                const ruler& up) {
  const auto& one = c.curves[index];
  const bool rest = index >= colored;
  const auto color = colors.of(one.name).value_or(0);
  const std::string fill = rest ? "mg-rest" : of_color("f", color),
                    stroke = rest ? "mg-rest" : of_color("l", color);
  std::vector<std::pair<double, double>> line, band;
  for (const auto& p : one.points) {
    line.emplace_back(across.at(p.x), up.at(p.y));
    if (p.high && p.low && one.dots)
      on.line(across.at(p.x), up.at(*p.low), across.at(p.x), up.at(*p.high),
              fmt::format("mg-line {}", stroke));
    if (p.high && !rest && !one.dots) band.emplace_back(across.at(p.x), up.at(*p.high));
  }
  for (auto p = one.points.rbegin(); p != one.points.rend(); ++p)
    if (p->low && !rest && !one.dots) band.emplace_back(across.at(p->x), up.at(*p->low));
  if (band.size() > 2) on.path(band, fmt::format("mg-band {}", fill), true);
  if (line.size() > 1 && !one.dots)
    on.path(line, fmt::format("mg-line {}{}", stroke, one.reference ? " mg-dashed" : ""));
  for (const auto& p : one.points) {
    if (!rest)
      for (const double s : p.samples)
        on.dot(across.at(p.x), up.at(s), 1.5, fmt::format("mg-sample {}", fill));
    on.dot(
        across.at(p.x), up.at(p.y), rest || one.points.size() > 60 ? 1.5 : 3, fmt::format("mg-mark {}", fill),
        fmt::format("{}: {} at {}{}{}", one.name, readable(p.y),
                    c.x.categories.empty() ? readable(p.x) : c.x.categories.at(static_cast<std::size_t>(p.x)),
                    p.note.empty() ? "" : ", ", p.note),
        p.source);
  }
}

// Drops a point's unknown batches and interval ends (docs/results.md).
chart known(chart c) {
  for (auto& one : c.curves)
    for (auto& p : one.points) {
      std::erase_if(p.samples, [](double value) { return !can_be_drawn(value); });
      if (p.low && !can_be_drawn(*p.low)) p.low.reset();
      if (p.high && !can_be_drawn(*p.high)) p.high.reset();
    }
  return c;
}

// Points for a logarithmic scale, which shows only values above 0. Lower interval ends that are not positive
// are moved to the smallest positive number of the chart; such batches are dropped.
chart above_zero(chart c) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& one : c.curves)
    for (const auto& p : one.points)
      for (const double value : {p.y, p.low.value_or(p.y)})
        if (value >= 1 / largest_drawn) least = std::min(least, value);
  if (!std::isfinite(least)) {  // no value is above 0
    c.y.logarithmic = false;
    return c;
  }
  for (auto& one : c.curves) {
    std::erase_if(one.points, [](const chart_point& p) { return p.y < 1 / largest_drawn; });
    for (auto& p : one.points) {
      if (p.low) p.low = std::max(*p.low, least);
      std::erase_if(p.samples, [](double value) { return value < 1 / largest_drawn; });
    }
  }
  std::erase_if(c.curves, [](const curve& one) { return one.points.empty(); });
  return c;
}

std::string draw(const chart& whole, const look& how) {
  for (const auto& one : whole.curves)
    if (one.points.empty()) throw std::invalid_argument(fmt::format("the curve {} has no points", one.name));
  const chart c = whole.y.logarithmic ? above_zero(known(whole)) : known(whole);
  range xs, ys;
  double names = 0;
  for (const auto& one : c.curves) {
    if (&one - c.curves.data() < static_cast<std::ptrdiff_t>(colored))
      names = std::max(names, std::min(width_of(one.name, name_letter), most_name));
    for (const auto& p : one.points) {
      xs.add(p.x);
      ys.add(p.y);
      if (p.low) ys.add(*p.low);
      if (p.high) ys.add(*p.high);
      for (const double s : p.samples) ys.add(s);
    }
  }
  canvas on(how.rows);
  // Curves of dots have no end, so their names stand above the drawing.
  const bool dots = std::any_of(c.curves.begin(), c.curves.end(), [](const curve& one) { return one.dots; });
  std::vector<std::pair<std::string, std::size_t>> listed;
  for (const auto& one : c.curves)
    if (dots && listed.size() < colored) listed.emplace_back(one.name, how.colors->of(one.name).value_or(0));
  const double from = dots ? legend(on, listed) : top, to = from + 300;
  const double end = width - (dots ? right : std::clamp(names + 28, 24.0, 260.0));
  const ruler up(c.y, ys.low, ys.high, to, from);
  double left = 74;
  for (const auto& tick : up.ticks()) left = std::max(left, 32 + width_of(tick.label));
  const ruler across(c.x, xs.low, xs.high, left + 6, end - 6, false);
  const bool counts =
      c.x.categories.empty() && std::all_of(c.curves.begin(), c.curves.end(), [](const curve& one) {
        return std::all_of(one.points.begin(), one.points.end(),
                           [](const chart_point& p) { return p.x == std::floor(p.x); });
      });
  axes(on, c.x, c.y, across, up, {left, end, from, to, counts});
  for (std::size_t i = c.curves.size(); i-- > 0;) draw_curve(on, c, i, *how.colors, across, up);
  if (!dots) name_curves(on, c, *how.colors, across, up, from, to);
  if (c.curves.size() > colored)
    on.text(left, to + 54,
            fmt::format("thin: {} others, named when pointed at and in the table of the numbers",
                        c.curves.size() - colored),
            "mg-soft");
  return on.finish(c.heading, width, to + (c.curves.size() > colored ? 66 : 50), how.with_style);
}

struct color {
  int r, g, b;
};

// Cividis (Nunez, Anderton and Renslow 2018) at nine places: its lightness rises also for colour-blind
// readers and on paper.
color cividis(double share) {
  static constexpr std::array<color, 9> stops{{{0, 34, 78},
                                               {18, 53, 112},
                                               {59, 73, 108},
                                               {87, 93, 109},
                                               {112, 113, 115},
                                               {138, 134, 120},
                                               {165, 156, 116},
                                               {195, 179, 105},
                                               {254, 232, 56}}};
  const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double rest = place - static_cast<double>(i);
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + rest * (b - a))); };
  return {mix(stops[i].r, stops[i + 1].r), mix(stops[i].g, stops[i + 1].g), mix(stops[i].b, stops[i + 1].b)};
}

std::string draw(const heat_map& map, const look& how) {
  range all;
  for (const auto& row : map.values)
    for (const auto& value : row)
      if (value) all.add(*value);
  if (!(all.low <= all.high)) throw std::invalid_argument("a heat map without a value");
  if (all.low < 1 / largest_drawn) throw std::invalid_argument("a heat map shows values above 0 only");
  double names = 30, longest = 0, widest = 32;
  for (const auto& row : map.rows) names = std::clamp(width_of(row), names, most_name);
  for (const auto& column : map.columns) longest = std::clamp(width_of(column, 6), longest, most_name);
  for (const auto& row : map.values)
    for (const auto& value : row)
      if (value) widest = std::max(widest, width_of(readable(*value, true), 6));
  const double left = 40 + names, high = 30;
  const double cell =
      std::clamp((width - right - left) / static_cast<double>(map.columns.size()), widest + 6, 96.0);
  const bool turned = longest > cell - 4;  // long names of columns are written at an angle
  const double from = top + 34 + (turned ? longest * 0.5 : 0);
  canvas on(how.rows);
  on.text(left, top,
          fmt::format("{} ({})", map.column_label, map.unit.empty() ? "no unit" : "cells in " + map.unit));
  for (std::size_t c = 0; c < map.columns.size(); ++c)
    on.text(left + (static_cast<double>(c) + 0.5) * cell, from - 8, fitted(map.columns[c], most_name, 6),
            "mg-soft", turned ? "start" : "middle", turned ? -30 : 0);
  const double to = from + high * static_cast<double>(map.rows.size());
  const double tall = std::max(to - from, std::min(width_of(map.row_label), most_name));
  on.text(18, from + tall / 2, fitted(map.row_label, tall), "mg-text", "middle", -90);
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = from + high * static_cast<double>(r);
    on.text(left - 8, y + high / 2 + 4, fitted(map.rows[r], most_name, 6), "mg-soft", "end");
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double x = left + cell * static_cast<double>(c);
      const auto& value = map.values.at(r).at(c);
      const auto where =
          fmt::format("{} {}, {} {}", map.row_label, map.rows[r], map.column_label, map.columns[c]);
      if (!value) {
        const auto why = r < map.holes.size() && c < map.holes[r].size() ? map.holes[r][c] : std::string();
        on.rectangle(x, y, cell, high, "mg-hole",
                     fmt::format("{}: {}", where, why.empty() ? "not measured" : why));
        on.text(x + cell / 2, y + high / 2 + 4, "-", "mg-soft", "middle");
        continue;
      }
      const double share =
          all.high > all.low ? std::log(*value / all.low) / std::log(all.high / all.low) : 0.5;
      const auto fill = cividis(share);
      on.rectangle(x, y, cell, high, "mg-mark mg-cell",
                   fmt::format("{}: {} {}", where, readable(*value), map.unit),
                   fmt::format("#{:02x}{:02x}{:02x}", fill.r, fill.g, fill.b),
                   r < map.sources.size() && c < map.sources[r].size() ? map.sources[r][c] : std::string());
      on.text(x + cell / 2, y + high / 2 + 4, readable(*value, true),
              share > 0.55 ? "mg-on-light" : "mg-on-dark", "middle");
    }
  }
  return on.finish(map.heading,
                   std::max(width, left + cell * static_cast<double>(map.columns.size()) +
                                       (turned ? longest * 0.87 - cell / 2 : right)),
                   from + tall + 16, how.with_style);
}

std::string draw(const bar_chart& c, const look& how) {
  range all;
  double names = 30, notes = 0;
  for (const auto& b : c.bars) {
    notes = std::max(notes, width_of(b.note, 6));
    double sum = 0;
    for (const double part : b.parts) {
      if (part < 0) throw std::invalid_argument("a bar of negative length");
      sum += part;
    }
    all.add(sum);
    if (b.low && (*b.low > 0 || !c.values.logarithmic)) all.add(*b.low);
    if (b.high) all.add(*b.high);
    names = std::max(names, width_of(b.name));
  }
  if (!c.values.logarithmic) all.add(0);
  canvas on(how.rows);
  std::vector<std::pair<std::string, std::size_t>> parts;
  for (const auto& name : c.part_names) parts.emplace_back(name, parts.size());
  const double from = legend(on, parts), left = std::min(30 + names, 300.0), high = 22;
  const double to = from + high * static_cast<double>(c.bars.size()),
               end =
                   width - right - std::clamp(notes + 60, 60.0, 300.0);  // room for the values after the bars
  // On a logarithmic scale even the shortest bar has a length.
  const ruler across(c.values, c.values.logarithmic ? all.low / 2 : all.low, all.high, left, end);
  number_ticks(on, across, to + 16, false, [&](double x) { on.line(x, from, x, to, "mg-grid"); });
  for (std::size_t i = 0; i < c.bars.size(); ++i) {
    const auto& b = c.bars[i];
    const double y = from + high * static_cast<double>(i) + 3;
    on.text(left - 8, y + 12, fitted(b.name, left - 12), "mg-text", "end");
    double sum = 0, x = left;
    for (std::size_t p = 0; p < b.parts.size(); ++p) {
      sum += b.parts[p];
      const double until = sum > 0 ? across.at(sum) : left;
      const auto of_subject = how.colors->of(b.subject);
      const auto css = !c.part_names.empty() ? of_color("f", p)
                       : of_subject          ? of_color("f", *of_subject)
                                             : "mg-plain";
      on.rectangle(x, y, until - x, high - 6,
                   fmt::format("mg-mark {}{}", css, b.reference ? " mg-reference" : ""),
                   fmt::format("{}{}: {}", b.name, p < c.part_names.size() ? ", " + c.part_names[p] : "",
                               readable(b.parts[p])),
                   "", b.source);
      x = until;
    }
    if (b.low && b.high && *b.high > *b.low)
      on.line(across.at(std::max(*b.low, all.low)), y + (high - 6) / 2, across.at(*b.high),
              y + (high - 6) / 2, "mg-error");
    const double behind = std::max(x, b.high ? across.at(*b.high) : x);
    const auto words = fmt::format("{}{}{}", readable(sum), b.note.empty() ? "" : ", ", b.note);
    on.text(behind + 6, y + 12, fitted(words, width - behind - 8, 6), "mg-soft");
  }
  on.line(left, from, left, to, "mg-axis");
  on.text((left + end) / 2, to + 34, fitted(c.values.label, end - left + 60), "mg-text", "middle");
  return on.finish(c.heading, width, to + 46, how.with_style);
}

std::string draw(const timeline& t, const look& how) { return draw_timeline(t, how.with_style); }

}  // namespace

std::string to_svg(const figure& what, const look& how) {
  check_parts(what);
  const palette own({&what});
  const look all{how.with_style, how.rows, how.colors != nullptr ? how.colors : &own};
  return std::visit([&](const auto& one) { return draw(one, all); }, what);
}

std::string to_svg_beside(const figure& what, std::span<const figure> together) {
  std::vector<const figure*> page;
  for (const auto& one : together) page.push_back(&one);
  const palette colors(page);
  return to_svg(what, {.colors = &colors});
}

}  // namespace mgsync::report
