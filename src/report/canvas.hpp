// Draws SVG: shapes that are appended to one text, and scales with readable ticks.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/markup.hpp"
#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// The most curves that colours can distinguish.
inline constexpr std::size_t colored = 8;

// The colours of what was measured, on a whole page: a name has one colour wherever it stands, and no two
// names that stand in one picture share one. Of more names than there are colours, the first of each ranked
// picture, those that stand in most pictures of their section, and those of charts with few curves have them;
// the others are grey.
class palette {
 public:
  using pictures = std::vector<const figure*>;
  // Of each section its pictures, in their order.
  explicit palette(const std::vector<pictures>& sections);
  explicit palette(const pictures& alone) : palette(std::vector<pictures>{alone}) {}
  // Nothing for a name that is grey, or stands in no chart.
  std::optional<std::size_t> of(const std::string& name) const;

 private:
  void add(const pictures& section);
  void give_color(const std::string& name, std::set<std::size_t> taken);

  std::map<std::string, std::size_t> colors_;
  std::map<std::string, std::set<std::string>> beside_;  // the names that stand in a picture with this one
};

class canvas {
 public:
  // Marks of data with a source become links to "#<rows><source>"; without `rows` there are no links.
  // `plain`: without links and without words that appear under the pointer.
  explicit canvas(std::string_view rows = "", bool plain = false) : rows_(rows), plain_(plain) {}

  // Colours and text sizes are classes of figure_style(); coordinates are in pixels of the view box.
  void line(double x1, double y1, double x2, double y2, std::string_view css);
  void rectangle(double x, double y, double width, double height, std::string_view css,
                 std::string_view tip = "", std::string_view fill = "", std::string_view source = "");
  void dot(double x, double y, double radius, std::string_view css, std::string_view tip = "",
           std::string_view source = "");
  // Small dots, all in one element.
  void dots(const std::vector<std::pair<double, double>>& points, std::string_view css);
  // What is drawn until end() belongs to this name, and a page's script finds it by `data-<kind>`.
  void begin(std::string_view kind, std::string_view name);
  void end() { body_ += "</g>\n"; }
  // The vertical scale, for a page's script that draws it another way.
  void tell_scale(std::string words) { scale_ = std::move(words); }
  // "M x y L x y ..." of the points; `closed`: an area.
  void path(const std::vector<std::pair<double, double>>& points, std::string_view css, bool closed = false);
  // anchor: start, middle, end.
  void text(double x, double y, std::string_view words, std::string_view css = "mg-text",
            std::string_view anchor = "start", double turned = 0);

  // The drawing alone, without title, paper and words for those who cannot see it.
  std::string bare(double width, double height) const;
  // The whole picture.
  std::string finish(const figure_heading&, double width, double height, bool with_style) const;

 private:
  void add(const std::string& shape, std::string_view source = "");

  std::string body_, scale_;
  std::string rows_;
  bool plain_;
};

// Larger values are not drawn. The bound is far below where arithmetic overflows.
inline constexpr double largest_drawn = 1e150;
inline bool can_be_drawn(double value) {
  return value >= -largest_drawn && value <= largest_drawn;
}  // false for NaN too

// The least and the greatest of what is drawn.
struct drawn_range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value);  // throws std::invalid_argument for what cannot be drawn
};

// Maps the numbers of a scale to positions between two pixels.
class ruler {
 public:
  // `low` and `high` of the data; throws std::invalid_argument where they cannot be drawn. from_zero: a
  // linear ruler starts at 0 where the data come near it.
  ruler(const scale&, double low, double high, double from_px, double to_px, bool from_zero = true);
  double at(double value) const;
  // "log,LOW,HIGH,FROM,TO" or "linear,...": from the value LOW at the pixel FROM to HIGH at TO.
  std::string in_words() const;
  struct tick {
    double px = 0;
    std::string label;
  };
  const std::vector<tick>& ticks() const { return ticks_; }

 private:
  bool logarithmic_;
  double low_, high_, from_, to_;
  std::vector<tick> ticks_;
};

// Draws each tick with its line, and below it its number, unless that would overlap the one before.
void number_ticks(canvas&, const ruler& across, double y, bool whole_only,
                  const std::function<void(double)>& line);

// The upper and the right edge of every picture's drawing, and the width of pictures.
inline constexpr double picture_width = 720, slim_width = 360, below_title = 44, right_margin = 24;

// The class of the series' colour: of areas ("f") or of lines ("l").
std::string of_color(std::string_view kind, std::size_t index);

// Names with their colours, a line per eight or so, below the title; returns where the drawing may begin.
double legend(canvas&, const std::vector<std::pair<std::string, std::size_t>>& names,
              double width = picture_width);

// A number for people: four digits, no exponent between 0.001 and 10^7. `padded`: with trailing zeros, for
// columns.
std::string readable(double, bool padded = false);

}  // namespace mgsync::report
