#include "src/report/timeline_picture.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "src/report/canvas.hpp"
#include "src/report/time_axis.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::report {
namespace {

// Splits "GPU 0 block 17" into the text before its last number and that number.
std::pair<std::string_view, std::string_view> split_name(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  return {name.substr(0, digits), name.substr(digits)};
}

bool alike(const track& a, const track& b) {
  return split_name(a.name).first == split_name(b.name).first &&
         std::equal(a.events.begin(), a.events.end(), b.events.begin(), b.events.end(),
                    [](const event& x, const event& y) { return x.name == y.name; });
}

merged_row merge(std::span<const track> some) {
  merged_row row{some.front().name, some.size(), {}};
  if (some.size() > 1) row.name += "-" + std::string(split_name(some.back().name).second);
  for (std::size_t k = 0; k < some.front().events.size(); ++k) {
    std::vector<double> begins, ends;
    for (const auto& one : some) begins.push_back(one.events[k].begin), ends.push_back(one.events[k].end);
    row.events.push_back({some.front().events[k].name, middle_one(begins), middle_one(ends),
                          std::ranges::min(begins), std::ranges::max(ends),
                          some.size() == 1 ? some.front().events[k].note : std::string()});
  }
  return row;
}

// The names of events, in the order of their first appearance.
struct kinds {
  std::map<std::string, std::size_t> index;
  std::vector<std::pair<std::string, std::size_t>> names;
  void add(const std::string& name) {
    if (index.try_emplace(name, index.size()).second) names.emplace_back(name, names.size());
  }
};

void draw_row(canvas& on, const merged_row& row, const timeline& t, const time_axis& across,
              const kinds& known, double y, double high) {
  const bool merged = row.tracks > 1;
  const double gap = high > 8 ? 3 : high > 4 ? 1 : 0;
  for (const auto& e : row.events) {
    const auto color = of_color("f", known.index.at(e.name));
    const double begin = across.at(e.begin), end = across.at(e.end);
    auto tip =
        fmt::format("{}: {} from {} to {} {}", row.name, e.name, readable(e.begin), readable(e.end), t.unit);
    if (merged)
      tip += fmt::format(" (medians of {}; the earliest began at {}, the latest ended at {})", row.tracks,
                         readable(e.earliest), readable(e.latest));
    if (!e.note.empty()) tip += "; " + e.note;
    // For several tracks: a bar between the medians, on a pale bar from the earliest to the latest.
    if (merged)
      on.rectangle(across.at(e.earliest), y + gap / 2, across.at(e.latest) - across.at(e.earliest),
                   high - gap, color + " mg-reference");
    const double inset = merged ? (high - gap) / 4 : 0;
    on.rectangle(begin, y + gap / 2 + inset, std::max(end - begin, 1.0), high - gap - 2 * inset,
                 "mg-mark " + color, tip);
    const auto words = fmt::format("{} {}", e.name, readable(std::round((e.end - e.begin) * 10) / 10));
    if (!merged && high >= 14 && width_of(words, 6) + 6 < end - begin)
      on.text((begin + end) / 2, y + high / 2 + 4, words,
              "mg-inside " + of_color("o", known.index.at(e.name)), "middle");
  }
}

std::vector<double> moments_of(const std::vector<merged_row>& rows) {
  std::vector<double> all;
  for (const auto& row : rows)
    for (const auto& e : row.events) all.insert(all.end(), {e.begin, e.end, e.earliest, e.latest});
  return all;
}

// A strip over all rows where the axis is broken, with how long it is below the ticks.
void draw_gaps(canvas& on, const timeline& t, const time_axis& across, double from, double to) {
  for (const auto& gap : across.gaps()) {
    const double middle = (gap.from_px + gap.to_px) / 2;
    on.rectangle(gap.from_px, from - 2, gap.to_px - gap.from_px, to - from + 4, "mg-gap",
                 fmt::format("{} {} are left out here", readable(gap.time), t.unit));
    on.text(middle, to + 30, fmt::format("+{}", readable(std::round(gap.time))), "mg-soft", "middle");
  }
}

// Draws the uncertainty of the times at both ends of every bar. Not called where it would cover the bars; the
// bracket below then shows it.
void draw_uncertainty(canvas& on, const merged_row& row, const timeline& t, const time_axis& across, double y,
                      double high) {
  const auto inside = [&](double time) {
    return std::clamp(across.at(time), across.left(), picture_width - right_margin);
  };
  for (const auto& e : row.events)
    for (const double at : {e.begin, e.end}) {
      const double from = inside(at - t.uncertainty), to = inside(at + t.uncertainty);
      on.line(from, y + high - 2.5, to, y + high - 2.5, "mg-error");
      on.line(across.at(at), y + high - 5, across.at(at), y + high, "mg-error");
    }
}

// Ends at the edge, without its right bar, where the uncertainty is longer than the picture. Returns its
// lower end.
double draw_bracket(canvas& on, const timeline& t, const time_axis& across, double low, double left,
                    double y) {
  constexpr double edge = picture_width - right_margin;
  const double whole = left + across.at(low + t.uncertainty) - across.at(low);
  const double right = whole <= edge ? whole : edge;
  on.line(left, y, right, y, "mg-error");
  on.line(left, y - 4, left, y + 4, "mg-error");
  if (whole <= edge) on.line(right, y - 4, right, y + 4, "mg-error");
  const auto words = fmt::format("{} {}: no order is claimed within this", readable(t.uncertainty), t.unit);
  const bool fits = right + 8 + width_of(words, 6) <= picture_width;
  on.text(fits ? right + 8 : left, y + (fits ? 4 : 17), words, "mg-soft");
  return y + (fits ? 14 : 28);
}

// Writes the caption in lines below a picture that is not on a page. Returns its lower end.
double draw_caption(canvas& on, std::string_view caption, double from) {
  constexpr double letter = 5.8, line_height = 15;
  std::string line;
  double y = from;
  const auto put = [&] {
    if (!line.empty()) on.text(16, y += line_height, line, "mg-soft");
    line.clear();
  };
  for (std::size_t at = 0; at < caption.size();) {
    const auto end = std::min(caption.find(' ', at), caption.size());
    const auto word = caption.substr(at, end - at);
    if (!line.empty() && width_of(line, letter) + width_of(word, letter) > picture_width - 16 - right_margin)
      put();
    line += (line.empty() ? "" : " ") + std::string(word);
    at = end + 1;
  }
  put();
  return y;
}

}  // namespace

std::vector<merged_row> merged_rows(const timeline& t, std::size_t most_rows) {
  const std::size_t each = most_rows == 0 ? 1 : (t.tracks.size() + most_rows - 1) / most_rows;
  std::vector<merged_row> rows;
  for (std::size_t from = 0; from < t.tracks.size();) {
    std::size_t to = from + 1;
    while (to < t.tracks.size() && to - from < each && alike(t.tracks[from], t.tracks[to])) ++to;
    rows.push_back(merge(std::span(t.tracks).subspan(from, to - from)));
    from = to;
  }
  return rows;
}

std::string draw_timeline(const timeline& t, bool with_style) {
  constexpr std::size_t rows_to_read = 24, rows_with_whiskers = 24;
  drawn_range all;
  kinds known;
  for (const auto& one : t.tracks)
    for (const auto& e : one.events) {
      all.add(e.begin);
      all.add(e.end);
      if (e.end < e.begin) throw std::invalid_argument(fmt::format("{} ends before it begins", e.name));
      known.add(e.name);
    }
  if (!can_be_drawn(t.uncertainty)) throw std::invalid_argument("a figure whose uncertainty is no number");
  if (!(all.low <= all.high)) throw std::invalid_argument("a timeline without events");
  const auto rows = merged_rows(t, rows_to_read);
  double names = 30;
  for (const auto& row : rows) names = std::max(names, width_of(row.name, 6));
  canvas on;
  const double from = legend(on, known.names), left = std::min(26 + names, 240.0);
  const double tall =
      std::clamp(900.0 / static_cast<double>(std::max<std::size_t>(rows.size(), 1)), 2.0, 22.0);
  const double to = from + tall * static_cast<double>(rows.size());
  const time_axis across(moments_of(rows), left, picture_width - right_margin);
  draw_gaps(on, t, across, from, to);
  for (const auto& tick : across.ticks()) {
    on.line(tick.px, from, tick.px, to, "mg-grid");
    on.text(tick.px, to + 16, tick.label, "mg-soft", "middle");
  }
  double named_until = -1e9;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = from + tall * static_cast<double>(i);
    if (y + tall / 2 >= named_until + 13) {
      on.text(left - 6, y + tall / 2 + 4, fitted(rows[i].name, left - 10, 6), "mg-soft", "end");
      named_until = y + tall / 2;
    }
    draw_row(on, rows[i], t, across, known, y, tall);
    if (t.uncertainty > 0 && rows.size() <= rows_with_whiskers && t.uncertainty < (all.high - all.low) / 10)
      draw_uncertainty(on, rows[i], t, across, y, tall);
  }
  const double below = across.gaps().empty() ? to : to + 14;
  on.text((left + picture_width - right_margin) / 2, below + 34,
          fmt::format("time ({}){}", t.unit,
                      across.gaps().empty() ? "" : "; + and a number: so long nothing happens, drawn short"),
          "mg-text", "middle");
  double end = below + 46;
  if (rows.size() < t.tracks.size()) {
    on.text(left, end + 4,
            fmt::format("{} rows for {}: solid from median to median, pale from the earliest to the latest",
                        rows.size(), t.tracks.size()),
            "mg-soft");
    end += 16;
  }
  if (t.uncertainty > 0) end = draw_bracket(on, t, across, all.low, left, end);
  if (with_style && !t.heading.caption.empty()) end = draw_caption(on, t.heading.caption, end) + 8;
  return on.finish(t.heading, picture_width, end, with_style);
}

}  // namespace mgsync::report
