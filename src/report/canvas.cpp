#include "src/report/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "src/base/printable.hpp"
#include "src/report/svg.hpp"

namespace mgsync::report {

std::string escaped(std::string_view words) {
  std::string safe;
  for (const char c : printable(words)) {
    switch (c) {
    case '&': safe += "&amp;"; break;
    case '<': safe += "&lt;"; break;
    case '>': safe += "&gt;"; break;
    case '"': safe += "&quot;"; break;
    case '\'': safe += "&#39;"; break;
    case '\t': safe += ' '; break;
    default: safe += c;
    }
  }
  return safe;
}

namespace {

struct palette {
  std::string_view ink, soft, grid, paper;
  std::array<std::string_view, 8> series;
};
constexpr palette light{
    "#1b1f24",
    "#57606a",
    "#d8dee4",
    "#ffffff",
    {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a17800", "#3f8fc4", "#000000", "#7a5195"}};
constexpr palette dark{
    "#e6edf3",
    "#9198a1",
    "#30363d",
    "#0d1117",
    {"#56b4e9", "#f0803c", "#2fc79a", "#e29bc4", "#e6b422", "#8ec9ee", "#e6edf3", "#b79ad6"}};

// Colours without CSS variables, which many picture viewers do not support.
std::string colors(const palette& p) {
  std::string css =
      fmt::format(".mg-paper{{fill:{3}}}.mg-figure{{background:{3}}}.mg-text,.mg-title{{fill:{0}}}.mg-soft{{"
                  "fill:{1}}}.mg-axis,.mg-line.mg-rest{{stroke:{1}}}circle.mg-rest{{fill:{1}}}"
                  ".mg-grid,.mg-hole{{stroke:{2}}}.mg-cell{{stroke:{3}}}.mg-error{{stroke:{0}}}",
                  p.ink, p.soft, p.grid, p.paper);
  for (std::size_t i = 0; i < p.series.size(); ++i)
    css += fmt::format(".mg-f{0}{{fill:{1}}}.mg-l{0}{{stroke:{1}}}", i, p.series[i]);
  return css;
}

}  // namespace

std::string_view figure_style() {
  static const std::string css = fmt::format(
      ".mg-figure{{font-family:Helvetica,Arial,sans-serif;max-width:100%;height:auto}}.mg-text{{font-size:"
      "12px}}"
      ".mg-soft,.mg-on-dark,.mg-on-light{{font-size:11px}}.mg-title{{font-size:15px;font-weight:bold}}.mg-on-"
      "dark{{fill:#fff}}"
      ".mg-on-light{{fill:#000}}.mg-axis,.mg-grid,.mg-cell,.mg-hole{{stroke-width:1}}.mg-hole{{fill:none}}"
      ".mg-line{{fill:none;stroke-width:2}}.mg-dashed{{stroke-dasharray:6 "
      "4}}.mg-leader{{fill:none;stroke-width:1;opacity:.6}}.mg-band{{opacity:.22;stroke:none}}"
      ".mg-rest{{opacity:.35;stroke-width:1}}.mg-sample{{opacity:.45}}.mg-error{{stroke-width:1.5;fill:none}}"
      ".mg-reference{{fill-opacity:.35}}\n{}\n"
      "@media (prefers-color-scheme:dark){{{}}}\n@media print{{{}}}",
      colors(light), colors(dark), colors(light));
  return css;
}

void canvas::line(double x1, double y1, double x2, double y2, std::string_view css) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1,
                       y1, x2, y2, css);
}

// The marks are many, and all of them are in the page's tables too, so the Tab key does not stop at them.
void canvas::add(const std::string& shape, std::string_view source) {
  body_ += rows_.empty() || source.empty() ? shape + "\n"
                                           : fmt::format("<a href=\"#{}{}\" tabindex=\"-1\">{}</a>\n",
                                                         escaped(rows_), escaped(source), shape);
}

void canvas::rectangle(double x, double y, double width, double height, std::string_view css,
                       std::string_view tip, std::string_view fill, std::string_view source) {
  auto shape =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"{}", x, y,
                  std::max(width, 0.0), std::max(height, 0.0), css,
                  fill.empty() ? "" : fmt::format(" fill=\"{}\"", fill));
  shape += tip.empty() ? "/>" : fmt::format("><title>{}</title></rect>", escaped(tip));
  add(shape, source);
}

void canvas::dot(double x, double y, double radius, std::string_view css, std::string_view tip,
                 std::string_view source) {
  auto shape =
      fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\"", x, y, radius, css);
  shape += tip.empty() ? "/>" : fmt::format("><title>{}</title></circle>", escaped(tip));
  add(shape, source);
}

void canvas::path(const std::vector<std::pair<double, double>>& points, std::string_view css, bool closed) {
  body_ += fmt::format("<path class=\"{}\" d=\"", css);
  for (std::size_t i = 0; i < points.size(); ++i)
    body_ += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", points[i].first, points[i].second);
  body_ += closed ? "Z\"/>\n" : "\"/>\n";
}

void canvas::text(double x, double y, std::string_view words, std::string_view css, std::string_view anchor,
                  double turned) {
  body_ += fmt::format(
      "<text x=\"{0:.1f}\" y=\"{1:.1f}\" class=\"{2}\" text-anchor=\"{3}\"{4}>{5}</text>\n", x, y, css,
      anchor, turned == 0 ? "" : fmt::format(" transform=\"rotate({:.0f} {:.1f} {:.1f})\"", turned, x, y),
      escaped(words));
}

std::string canvas::finish(const figure_heading& heading, double width, double height,
                           bool with_style) const {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mg-figure\" width=\"{0:.0f}\" "
                     "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
                     "{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n{3}<rect width=\"{0:.0f}\" "
                     "height=\"{1:.0f}\" class=\"mg-paper\"/>\n"
                     "<text x=\"16\" y=\"24\" class=\"mg-title\">{2}</text>\n{4}</svg>\n",
                     width, height, escaped(heading.title),
                     with_style ? fmt::format("<style>{}</style>\n", figure_style()) : "", body_);
}

std::string of_color(std::string_view kind, std::size_t index) {
  return fmt::format("mg-{}{}", kind, index % 8);
}

double legend(canvas& on, const std::vector<std::pair<std::string, bool>>& names, bool lines) {
  double x = 16, y = below_title;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double needs = 30 + width_of(names[i].first);
    if (x > 16 && x + needs > picture_width - right_margin) x = 16, y += 18;
    if (lines)
      on.line(x, y - 4, x + 20, y - 4,
              fmt::format("mg-line {}{}", of_color("l", i), names[i].second ? " mg-dashed" : ""));
    else on.rectangle(x, y - 10, 12, 12, of_color("f", i));
    on.text(x + (lines ? 25 : 17), y, names[i].first);
    x += needs + 8;
  }
  return y + (names.empty() ? 0 : 18);
}

double width_of(std::string_view words, double letter_px) {
  const auto letters = std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return static_cast<double>(letters) * letter_px;
}

std::string readable(double value, bool padded) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 1e7 || size < 1e-3) return fmt::format("{:.3g}", value);
  const int digits = std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
  auto text = fmt::format("{:.{}f}", value, digits);
  if (!padded && text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

namespace {

std::vector<double> linear_ticks(double low, double high) {
  const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 5.0})
    if (rough <= nice * power) {
      step = nice * power;
      break;
    }
  constexpr int most = 20;  // bounds the loop, where a step between adjacent doubles makes no progress
  std::vector<double> ticks;
  double at = std::ceil(low / step - 1e-9) * step;
  for (int i = 0; i < most && at <= high + step * 1e-9; ++i, at += step)
    ticks.push_back(std::abs(at) < step * 1e-9 ? 0 : at);
  return ticks;
}

// Ticks at 1, 2 and 5 of every decade; where the labels would overlap, at 1 alone.
std::vector<double> logarithmic_ticks(double low, double high, double length_px) {
  constexpr double room_px = 90;  // the least width of a decade with three labels
  const double decades = std::log10(high / low);
  std::vector<double> ticks;
  const int every = std::max(1, static_cast<int>(decades / 15));
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high; power += every)
    for (const double times : {1.0, 2.0, 5.0}) {
      if (times != 1 && (decades > 4 || length_px < room_px * decades)) continue;
      const double at = times * std::pow(10, power);
      if (at >= low * 0.999 && at <= high * 1.001) ticks.push_back(at);
    }
  return ticks;
}

// 10k, 1M, 1G, as long numbers would overlap.
std::string tick_label(double value) {
  for (const auto& [size, letter] : {std::pair{1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}})
    if (value >= 1e4 && value >= size) return fmt::format("{}{}", readable(value / size), letter);
  return readable(value);
}

}  // namespace

ruler::ruler(const scale& of, double low, double high, double from_px, double to_px, bool from_zero)
    : logarithmic_(of.logarithmic), low_(low), high_(high), from_(from_px), to_(to_px) {
  if (!(low <= high)) throw std::invalid_argument("a scale without numbers");
  if (!(can_be_drawn(low) && can_be_drawn(high)))
    throw std::invalid_argument(fmt::format("a scale of numbers beyond {}", largest_drawn));
  if (!of.categories.empty()) {
    logarithmic_ = false;
    low_ = -0.5;
    high_ = static_cast<double>(of.categories.size()) - 0.5;
    for (std::size_t i = 0; i < of.categories.size(); ++i)
      ticks_.push_back({at(static_cast<double>(i)), of.categories[i]});
    return;
  }
  if (logarithmic_) {
    if (low < 1 / largest_drawn)
      throw std::invalid_argument("a logarithmic scale shows numbers above 0 only");
    low_ = low / 1.15;
    high_ = high * 1.15;
  } else {
    if (from_zero && low > 0 && low < 0.6 * high) low_ = 0;
    const double size = std::max(std::abs(low_), std::abs(high_));
    const bool differ = high_ - low_ > std::max(1e-9 * size, 1 / largest_drawn);
    const double margin = differ ? 0.03 * (high_ - low_) : std::max(size, 1.0) * 0.1;
    high_ += margin;
    if (low_ != 0) low_ -= margin;
  }
  // For a range of less than a factor of four, ticks at 1, 2 and 5 are too few.
  for (const double value : logarithmic_&& high_ > 4 * low_
                                ? logarithmic_ticks(low_, high_, std::abs(to_px - from_px))
                                : linear_ticks(low_, high_))
    ticks_.push_back({at(value), tick_label(value)});
}

double ruler::at(double value) const {
  const double share =
      logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

}  // namespace mgsync::report
