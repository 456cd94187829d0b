#include "src/report/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "src/report/svg.hpp"

extern const unsigned char mgsync_figure_css[];  // made by cmake/embed.cmake; ends with a zero

namespace mgsync::report {

std::string_view figure_style() { return reinterpret_cast<const char*>(mgsync_figure_css); }

namespace {

std::vector<std::string> names_in(const figure& one) {
  std::vector<std::string> names;
  if (const auto* c = std::get_if<chart>(&one))
    for (const auto& each : c->curves) names.push_back(each.name);
  if (const auto* c = std::get_if<bar_chart>(&one))
    for (const auto& each : c->bars)
      if (!each.subject.empty()) names.push_back(each.subject);
  return names;
}

// What the picture is about: the first bar that is compared. Empty where its bars are of no subject.
std::string answer_of(const bar_chart& bars) {
  const auto found =
      std::ranges::find_if(bars.bars, [](const bar& one) { return !one.reference && !one.subject.empty(); });
  return found == bars.bars.end() ? "" : found->subject;
}

}  // namespace

palette::palette(const std::vector<pictures>& sections) {
  for (const auto& section : sections)
    for (const auto* one : section) {
      const auto names = names_in(*one);
      for (const auto& name : names) beside_[name].insert(names.begin(), names.end());
    }
  for (const auto& one : sections) add(one);
  for (const auto& section : sections)
    for (const auto* one : section)
      if (const auto* c = std::get_if<chart>(one); c != nullptr && c->curves.size() <= colored)
        for (const auto& each : c->curves) give_color(each.name, {});
}

// The first colour that is not taken, by these or beside the name.
void palette::give_color(const std::string& name, std::set<std::size_t> taken) {
  if (of(name)) return;
  for (const auto& other : beside_[name])
    if (const auto color = of(other)) taken.insert(*color);
  for (std::size_t i = 0; i < colored; ++i)
    if (!taken.contains(i)) {
      colors_[name] = i;
      return;
    }
}

void palette::add(const pictures& section) {
  std::vector<std::pair<std::string, int>> names;  // with the number of pictures that they stand in
  std::set<std::string> all;
  for (const auto* one : section) {
    const auto here = names_in(*one);
    all.insert(here.begin(), here.end());
    const auto* c = std::get_if<chart>(one);
    if (c == nullptr) continue;
    for (std::size_t i = 0; i < std::min(c->curves.size(), colored); ++i) {
      const auto& name = c->curves[i].name;
      const auto known = std::ranges::find(names, name, &std::pair<std::string, int>::first);
      if (known == names.end()) names.emplace_back(name, 1);
      else ++known->second;
    }
  }
  std::ranges::stable_sort(names, std::greater<>(), &std::pair<std::string, int>::second);
  // The first of a ranked picture is among them, if it is a curve anywhere.
  const auto is_curve = [&](const std::string& name) {
    return std::ranges::any_of(section, [&](const auto* one) {
      const auto* c = std::get_if<chart>(one);
      return c != nullptr && std::ranges::find(c->curves, name, &curve::name) != c->curves.end();
    });
  };
  for (const auto* one : section) {
    const auto* bars = std::get_if<bar_chart>(one);
    const auto answer = bars == nullptr ? "" : answer_of(*bars);
    const auto last = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), colored - 1));
    const auto is_answer = [&](const auto& each) { return each.first == answer; };
    if (!answer.empty() && is_curve(answer) && std::none_of(names.begin(), last, is_answer))
      names.emplace(last, answer, 0);
  }
  names.resize(std::min(names.size(), colored));
  std::set<std::size_t> taken;  // in this section
  for (const auto& name : all)
    if (const auto color = of(name)) taken.insert(*color);
  for (const auto& [name, count] : names) {
    give_color(name, taken);
    if (const auto color = of(name)) taken.insert(*color);
  }
}

std::optional<std::size_t> palette::of(const std::string& name) const {
  const auto found = colors_.find(name);
  return found == colors_.end() ? std::nullopt : std::optional(found->second);
}

void canvas::line(double x1, double y1, double x2, double y2, std::string_view css) {
  add(element("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"class", css}}));
}

// The marks are many, and all of them are in the page's tables too, so the Tab key does not stop at them.
void canvas::add(const std::string& shape, std::string_view source) {
  const bool linked = !plain_ && !rows_.empty() && !source.empty();
  body_ += linked ? enclosing("a", {{"href", fmt::format("#{}{}", rows_, source)}, {"tabindex", -1}}, shape)
                  : shape;
  body_ += '\n';
}

namespace {

// A slim picture repeats the marks of another: its own are none.
std::string_view class_of(std::string_view css, bool plain) {
  constexpr std::string_view mark = "mg-mark ";
  return plain && css.starts_with(mark) ? css.substr(mark.size()) : css;
}

std::string title_of(std::string_view tip) { return tip.empty() ? "" : element("title", {}, tip); }

}  // namespace

void canvas::rectangle(double x, double y, double width, double height, std::string_view css,
                       std::string_view tip, std::string_view fill, std::string_view source) {
  add(enclosing("rect",
                {{"x", x},
                 {"y", y},
                 {"width", std::max(width, 0.0)},
                 {"height", std::max(height, 0.0)},
                 {"class", class_of(css, plain_)},
                 {"fill", fill}},
                plain_ ? "" : title_of(tip)),
      source);
}

void canvas::dots(const std::vector<std::pair<double, double>>& points, std::string_view css) {
  std::string way;
  for (const auto& [x, y] : points) way += fmt::format("M{:.1f} {:.1f}h0", x, y);
  if (!plain_ && !way.empty()) add(element("path", {{"class", css}, {"d", way}}));
}

void canvas::begin(std::string_view kind, std::string_view name) {
  body_ += opening("g", {{fmt::format("data-{}", kind), name}});
}

void canvas::dot(double x, double y, double radius, std::string_view css, std::string_view tip,
                 std::string_view source) {
  add(enclosing("circle", {{"cx", x}, {"cy", y}, {"r", radius}, {"class", class_of(css, plain_)}},
                plain_ ? "" : title_of(tip)),
      source);
}

void canvas::path(const std::vector<std::pair<double, double>>& points, std::string_view css, bool closed) {
  std::string way;
  for (const auto& [x, y] : points) way += fmt::format("{}{:.1f} {:.1f}", way.empty() ? "M" : "L", x, y);
  add(element("path", {{"class", css}, {"d", way + (closed ? "Z" : "")}}));
}

void canvas::text(double x, double y, std::string_view words, std::string_view css, std::string_view anchor,
                  double turned) {
  add(element("text",
              {{"x", x},
               {"y", y},
               {"class", css},
               {"text-anchor", anchor},
               {"transform", turned == 0 ? "" : fmt::format("rotate({:.0f} {:.1f} {:.1f})", turned, x, y)}},
              words));
}

std::string canvas::bare(double width, double height) const {
  return enclosing(
      "svg", {{"viewBox", fmt::format("0 0 {:.0f} {:.0f}", width, height)}, {"aria-hidden", "true"}}, body_);
}

std::string canvas::finish(const figure_heading& heading, double width, double height,
                           bool with_style) const {
  const auto w = std::lround(width), h = std::lround(height);
  const auto style = with_style ? fmt::format("<style>{}</style>\n", figure_style()) : "";
  const auto paper = element("rect", {{"width", w}, {"height", h}, {"class", "mg-paper"}}),
             title = element("text", {{"x", 16}, {"y", 24}, {"class", "mg-title"}},
                             fitted(heading.title, width - 20, 8.1));
  return enclosing("svg",
                   {{"xmlns", "http://www.w3.org/2000/svg"},
                    {"class", "mg-figure"},
                    {"width", w},
                    {"height", h},
                    {"viewBox", fmt::format("0 0 {} {}", w, h)},
                    {"data-scale", scale_},
                    {"role", "img"},
                    {"aria-label", heading.title}},
                   fmt::format("\n{}{}\n{}\n{}", style, paper, title, body_)) +
         "\n";
}

std::string of_color(std::string_view kind, std::size_t index) {
  return fmt::format("mg-{}{}", kind, index % colored);
}

double legend(canvas& on, const std::vector<std::pair<std::string, std::size_t>>& names, double width) {
  double x = 16, y = below_title;
  for (const auto& [name, color] : names) {
    const auto shown = fitted(name, width - right_margin - 46);
    const double needs = 30 + width_of(shown);
    if (x > 16 && x + needs > width - right_margin) x = 16, y += 18;
    on.begin("s", name);
    on.rectangle(x, y - 10, 12, 12, of_color("f", color));
    on.text(x + 17, y, shown, "mg-text mg-name");
    on.end();
    x += needs + 8;
  }
  return y + (names.empty() ? 0 : 18);
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

std::string ruler::in_words() const {
  return fmt::format("{},{:.6g},{:.6g},{:.1f},{:.1f}", logarithmic_ ? "log" : "linear", low_, high_, from_,
                     to_);
}

double ruler::at(double value) const {
  const double share =
      logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

void drawn_range::add(double value) {
  if (!can_be_drawn(value))
    throw std::invalid_argument("a figure with a value that is no number, or too large");
  low = std::min(low, value);
  high = std::max(high, value);
}

void number_ticks(canvas& on, const ruler& across, double y, bool whole_only,
                  const std::function<void(double)>& line) {
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

}  // namespace mgsync::report
