#include "src/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/report/figure_data.hpp"
#include "src/report/timeline_picture.hpp"

namespace mgsync::report {
namespace {

constexpr double most_label = 262;  // of a row or a column of a map, in pixels

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

// Of black and white the one that can be read on it: their contrasts are equal at a luminance of 0.179.
std::string_view words_on(const color& under) {
  const auto linear = [](int part) {
    const double s = part / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(under.r) + 0.7152 * linear(under.g) + 0.0722 * linear(under.b) > 0.179
             ? "mg-on-light"
             : "mg-on-dark";
}

std::string draw(const heat_map& map, const look& how) {
  drawn_range all;
  for (const auto& row : map.values)
    for (const auto& value : row)
      if (value) all.add(*value);
  if (!(all.low <= all.high)) throw std::invalid_argument("a heat map without a value");
  if (all.low < 1 / largest_drawn) throw std::invalid_argument("a heat map shows values above 0 only");
  double names = 30, longest = 0, widest = 32;
  for (const auto& row : map.rows) names = std::clamp(width_of(row), names, most_label);
  for (const auto& column : map.columns) longest = std::clamp(width_of(column, 6), longest, most_label);
  for (const auto& row : map.values)
    for (const auto& value : row)
      if (value) widest = std::max(widest, width_of(readable(*value, true), 6));
  const double left = 40 + names, high = 30;
  const double cell = std::clamp(
      (picture_width - right_margin - left) / static_cast<double>(map.columns.size()), widest + 6, 96.0);
  const bool turned = longest > cell - 4;  // long names of columns are written at an angle
  const double from = below_title + 34 + (turned ? longest * 0.5 : 0);
  canvas on(how.rows);
  on.text(left, below_title,
          fmt::format("{} ({})", map.column_label, map.unit.empty() ? "no unit" : "cells in " + map.unit));
  for (std::size_t c = 0; c < map.columns.size(); ++c)
    on.text(left + (static_cast<double>(c) + 0.5) * cell, from - 8, fitted(map.columns[c], most_label, 6),
            "mg-soft", turned ? "start" : "middle", turned ? -30 : 0);
  const double to = from + high * static_cast<double>(map.rows.size());
  const double tall = std::max(to - from, std::min(width_of(map.row_label), most_label));
  on.text(18, from + tall / 2, fitted(map.row_label, tall), "mg-text", "middle", -90);
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = from + high * static_cast<double>(r);
    on.begin("s", map.rows[r]);
    on.text(left - 8, y + high / 2 + 4, fitted(map.rows[r], most_label, 6), "mg-soft mg-name", "end");
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
      on.text(x + cell / 2, y + high / 2 + 4, readable(*value, true), words_on(fill), "middle");
    }
    on.end();
  }
  return on.finish(map.heading,
                   std::max(picture_width, left + cell * static_cast<double>(map.columns.size()) +
                                               (turned ? longest * 0.87 - cell / 2 : right_margin)),
                   from + tall + 16, how.with_style);
}

// Where the bars of a chart stand: on a slim picture the name is above its bar, elsewhere before it.
struct bar_places {
  double left, end, from, high;
  ruler across;
};

bar_places places_of(const bar_chart& c, const look& how, double from) {
  drawn_range all;
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
  const double left = how.slim ? 12 : std::min(30 + names, 300.0);
  // Room for the values after the bars.
  const double end = how.width() - right_margin - std::clamp(notes + 60, 60.0, how.slim ? 160.0 : 300.0);
  // On a logarithmic scale even the shortest bar has a length.
  return {left, end, from, how.slim ? 36.0 : 22.0,
          ruler(c.values, c.values.logarithmic ? all.low / 2 : all.low, all.high, left, end)};
}

// How a bar with these marks is drawn: its classes, and the fill where no class gives one.
struct drawn_mark {
  std::string css, fill;
};
drawn_mark drawn(const bar_marks& marks, std::optional<std::size_t> color) {
  const bool outlined = marks.hollow || marks.dashed, filled = !outlined || marks.pale;
  std::vector<std::string> classes;
  if (filled) classes.push_back(color ? of_color("f", *color) : "mg-plain");
  if (marks.pale) classes.emplace_back("mg-reference");
  if (outlined) classes.push_back(color ? of_color("l", *color) : "mg-axis");
  if (marks.dashed) classes.emplace_back("mg-dashed");
  // What is transparent can be pressed, unlike what is not filled.
  return {fmt::format("{}", fmt::join(classes, " ")), filled ? "" : "transparent"};
}

void draw_bar(canvas& on, const bar_chart& c, const bar& b, const look& how, const bar_places& at, double y) {
  constexpr double thick = 16;
  on.begin("s", b.subject);
  if (how.slim) on.text(at.left, y + 10, fitted(b.name, how.width() - 20), "mg-text mg-name");
  else on.text(at.left - 8, y + 12, fitted(b.name, at.left - 12), "mg-text mg-name", "end");
  if (how.slim) y += 14;
  double sum = 0, x = at.left;
  const auto of_subject = how.colors->of(b.subject);
  for (std::size_t p = 0; p < b.parts.size(); ++p) {
    sum += b.parts[p];
    const double until = sum > 0 ? at.across.at(sum) : at.left;
    const auto shown = drawn(b.marks, !c.part_names.empty() ? std::optional(p) : of_subject);
    on.rectangle(x, y, until - x, thick, "mg-mark " + shown.css,
                 fmt::format("{}{}: {}", b.name, p < c.part_names.size() ? ", " + c.part_names[p] : "",
                             readable(b.parts[p])),
                 shown.fill, b.source);
    x = until;
  }
  const double least = c.values.logarithmic ? 1 / largest_drawn : -largest_drawn;
  if (b.low && b.high && *b.high > *b.low)
    on.line(std::max(at.left, *b.low > least ? at.across.at(*b.low) : at.left), y + thick / 2,
            at.across.at(*b.high), y + thick / 2, "mg-error");
  const double behind = std::max(x, b.high ? at.across.at(*b.high) : x);
  const auto words = fmt::format("{}{}{}", readable(sum), b.note.empty() ? "" : ", ", b.note);
  on.text(behind + 6, y + 12, fitted(words, how.width() - behind - 8, how.slim ? 6.6 : 6), "mg-soft");
  on.end();
}

// What the marks mean that these bars have, in lines from `y` on; returns where the last one ends.
double explain_marks(canvas& on, const bar_chart& c, const look& how, double y) {
  constexpr double letter = 6, swatch = 12, line = 18;
  double x = 16;
  y += c.legend.empty() ? 0 : line;
  for (const auto& [marks, words] : c.legend) {
    const auto shown = fitted(words, how.width() - right_margin - 46, letter);
    const double needs = 30 + width_of(shown, letter);
    if (x > 16 && x + needs > how.width() - right_margin) x = 16, y += line;
    const auto mark = drawn(marks, std::nullopt);
    on.rectangle(x, y - 10, swatch, swatch, mark.css, "", mark.fill);
    on.text(x + 17, y, shown, "mg-soft");
    x += needs + 8;
  }
  return y;
}

std::string draw(const bar_chart& c, const look& how) {
  canvas on(how.rows, how.slim);
  std::vector<std::pair<std::string, std::size_t>> parts;
  for (const auto& name : c.part_names) parts.emplace_back(name, parts.size());
  const auto at = places_of(c, how, legend(on, parts, how.width()));
  const double to = at.from + at.high * static_cast<double>(c.bars.size());
  number_ticks(on, at.across, to + 16, false, [&](double x) { on.line(x, at.from, x, to, "mg-grid"); });
  for (std::size_t i = 0; i < c.bars.size(); ++i)
    draw_bar(on, c, c.bars[i], how, at, at.from + at.high * static_cast<double>(i) + 3);
  on.line(at.left, at.from, at.left, to, "mg-axis");
  on.text((at.left + at.end) / 2, to + 34, fitted(c.values.label, at.end - at.left + 60), "mg-text",
          "middle");
  return on.finish(c.heading, how.width(), explain_marks(on, c, how, to + 38) + 8, how.with_style);
}

std::string draw(const chart& c, const look& how) { return draw_chart(c, how); }
std::string draw(const timeline& t, const look& how) { return draw_timeline(t, how.with_style); }

}  // namespace

std::string to_svg(const figure& what, const look& how) {
  check_parts(what);
  const palette own({&what});
  look all = how;
  if (all.colors == nullptr) all.colors = &own;
  return std::visit([&](const auto& one) { return draw(one, all); }, what);
}

std::string to_svg_beside(const figure& what, std::span<const figure> together) {
  std::vector<const figure*> page;
  for (const auto& one : together) page.push_back(&one);
  const palette colors(page);
  return to_svg(what, {.colors = &colors});
}

}  // namespace mgsync::report
