#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "src/report/svg.hpp"

namespace mgsync::report {
namespace {

constexpr double most_of_category = 130;

struct plot_box {
  double left, right, from, to;
  bool counts = false;  // the axis shows whole numbers only
  double turned = 0;    // the height of names of categories that are written at an angle
};

// Names of categories that have no room beside each other are all written at an angle: none is left out.
double height_of_turned(const scale& x, const ruler& across) {
  double longest = 0, room = 1e9;
  for (std::size_t i = 0; i < x.categories.size(); ++i) {
    longest = std::max(longest, width_of(x.categories[i], 6.4));
    if (i > 0) room = std::min(room, across.ticks()[i].px - across.ticks()[i - 1].px);
  }
  return longest + 6 > room ? std::min(longest, most_of_category) * 0.5 : 0;
}

void axes(canvas& on, const scale& x, const scale& y, const ruler& across, const ruler& up,
          const plot_box& in) {
  const auto [left, end, from, to, counts, turned] = in;
  on.begin("ticks", fmt::format("{:.1f},{:.1f}", left, end));
  for (const auto& tick : up.ticks()) {
    on.line(left, tick.px, end, tick.px, "mg-grid");
    on.text(left - 6, tick.px + 4, tick.label, "mg-soft", "end");
  }
  on.end();
  const auto mark = [&, bottom = to](double at) { on.line(at, bottom, at, bottom + 4, "mg-axis"); };
  if (turned > 0)
    for (const auto& tick : across.ticks()) {
      mark(tick.px);
      on.text(tick.px + 4, to + 15, fitted(tick.label, most_of_category, 6.4), "mg-soft", "end", -30);
    }
  else number_ticks(on, across, to + 17, counts, mark);
  on.line(left, to, end, to, "mg-axis");
  on.text((left + end) / 2, to + 36 + turned, fitted(x.label, end - left), "mg-text", "middle");
  on.text(18, (from + to) / 2, fitted(y.label, to - from), "mg-text mg-y", "middle", -90);
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
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    if (!colors.of(c.curves[i].name)) continue;
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
    on.begin("s", c.curves[of.index].name);
    if (std::abs(places[k] - of.y) > 3 || of.x < end)
      on.path({{of.x + 5, of.y}, {end + 14, places[k]}},
              fmt::format("mg-leader {}", of_color("l", colors.of(c.curves[of.index].name).value_or(0))));
    on.text(end + 17, places[k] + 4, fitted(c.curves[of.index].name, most_name, name_letter),
            "mg-text mg-name");
    on.end();
  }
}

void draw_curve(canvas& on, const chart& c, const curve& one, const palette& colors, const ruler& across,
                const ruler& up) {
  const auto color = colors.of(one.name);
  const bool rest = !color;
  const std::string fill = rest ? "mg-rest" : of_color("f", *color),
                    stroke = rest ? "mg-rest" : of_color("l", *color);
  std::vector<std::pair<double, double>> line, band, samples;
  on.begin("s", one.name);
  for (const auto& p : one.points) {
    line.emplace_back(across.at(p.x), up.at(p.y));
    if (p.high && p.low && one.dots)
      on.line(across.at(p.x), up.at(*p.low), across.at(p.x), up.at(*p.high),
              fmt::format("mg-line {}", stroke));
    if (p.high && !rest && !one.dots) band.emplace_back(across.at(p.x), up.at(*p.high));
    if (!rest)
      for (const double s : p.samples) samples.emplace_back(across.at(p.x), up.at(s));
  }
  for (auto p = one.points.rbegin(); p != one.points.rend(); ++p)
    if (p->low && !rest && !one.dots) band.emplace_back(across.at(p->x), up.at(*p->low));
  if (band.size() > 2) on.path(band, fmt::format("mg-band {}", fill), true);
  if (line.size() > 1 && !one.dots)
    on.path(line, fmt::format("mg-line {}{}", stroke, one.reference ? " mg-dashed" : ""));
  on.dots(samples, fmt::format("mg-sample {}", stroke));
  for (const auto& p : one.points)
    on.dot(
        across.at(p.x), up.at(p.y), rest || one.points.size() > 60 ? 1.5 : 3, fmt::format("mg-mark {}", fill),
        fmt::format("{}: {} at {}{}{}", one.name, readable(p.y),
                    c.x.categories.empty() ? readable(p.x) : c.x.categories.at(static_cast<std::size_t>(p.x)),
                    p.note.empty() ? "" : ", ", p.note),
        p.source);
  on.end();
}

// Drops a point's unknown batches and interval ends (docs/results.md).
chart without_unknown(chart c) {
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

struct extents {
  drawn_range x, y;
  double names = 0;  // the width of the longest coloured name
};

extents extents_of(const chart& c, const palette& colors) {
  extents found;
  for (const auto& one : c.curves) {
    if (colors.of(one.name))
      found.names = std::max(found.names, std::min(width_of(one.name, name_letter), most_name));
    for (const auto& p : one.points) {
      found.x.add(p.x);
      found.y.add(p.y);
      if (p.low) found.y.add(*p.low);
      if (p.high) found.y.add(*p.high);
      for (const double s : p.samples) found.y.add(s);
    }
  }
  return found;
}

void draw_curves(canvas& on, const chart& c, const palette& colors, const ruler& across, const ruler& up) {
  for (const bool with_color : {false, true})
    for (std::size_t i = c.curves.size(); i-- > 0;)
      if (colors.of(c.curves[i].name).has_value() == with_color)
        draw_curve(on, c, c.curves[i], colors, across, up);
}

bool only_whole_numbers(const chart& c) {
  return c.x.categories.empty() && std::ranges::all_of(c.curves, [](const curve& one) {
           return std::ranges::all_of(one.points,
                                      [](const chart_point& p) { return p.x == std::floor(p.x); });
         });
}

chart can_be_shown(const chart& whole) {
  for (const auto& one : whole.curves)
    if (one.points.empty()) throw std::invalid_argument(fmt::format("the curve {} has no points", one.name));
  return whole.y.logarithmic ? above_zero(without_unknown(whole)) : without_unknown(whole);
}

}  // namespace

std::string draw_chart(const chart& whole, const look& how) {
  const chart c = can_be_shown(whole);
  const auto& colors = *how.colors;
  const auto [xs, ys, names] = extents_of(c, colors);
  canvas on(how.rows, how.slim);
  // Curves of dots have no end, and a slim picture no room beside them: their names stand above the drawing.
  const bool above =
      how.slim || std::any_of(c.curves.begin(), c.curves.end(), [](const curve& one) { return one.dots; });
  std::vector<std::pair<std::string, std::size_t>> listed;
  for (const auto& one : c.curves)
    if (const auto color = colors.of(one.name); above && color) listed.emplace_back(one.name, *color);
  const double from = above ? legend(on, listed, how.width()) : below_title,
               to = from + (how.slim ? 220 : 300);
  const double end = how.width() - (above ? right_margin : std::clamp(names + 28, 24.0, 260.0));
  const ruler up(c.y, ys.low, ys.high, to, from);
  double left = how.slim ? 58 : 74;
  for (const auto& tick : up.ticks()) left = std::max(left, 32 + width_of(tick.label));
  const ruler across(c.x, xs.low, xs.high, left + 6, end - 6, false);
  on.tell_scale(up.in_words());
  const double turned = height_of_turned(c.x, across), below = to + turned;
  axes(on, c.x, c.y, across, up, {left, end, from, to, only_whole_numbers(c), turned});
  draw_curves(on, c, colors, across, up);
  if (!above) name_curves(on, c, colors, across, up, from, to);
  const auto grey =
      std::ranges::count_if(c.curves, [&](const curve& one) { return !colors.of(one.name).has_value(); });
  if (grey > 0)
    on.text(
        how.slim ? 8 : left, below + 54,
        fitted(fmt::format("thin: {} others, named when pointed at and in the table of the numbers", grey),
               how.width() - (how.slim ? 8 : left)),
        "mg-soft");
  return on.finish(c.heading, how.width(), below + (grey > 0 ? 66 : 50), how.with_style);
}

std::string to_small_svg(const chart& whole, const palette& colors, double low, double high) {
  constexpr double width = 132, height = 76;
  const chart c = can_be_shown(whole);
  const auto xs = extents_of(c, colors).x;
  const ruler up(c.y, low, high, height - 4, 4), across(c.x, xs.low, xs.high, 4, width - 4, false);
  canvas on("", true);
  for (const auto& one : c.curves) {
    std::vector<std::pair<double, double>> line;
    for (const auto& p : one.points) line.emplace_back(across.at(p.x), std::clamp(up.at(p.y), 0.0, height));
    if (const auto color = colors.of(one.name))
      on.path(line, fmt::format("mg-line {}", of_color("l", *color)));
  }
  return on.bare(width, height);
}

}  // namespace mgsync::report
