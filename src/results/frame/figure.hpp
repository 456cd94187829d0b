// Figures as plain values, and the evaluation that a study makes of results. src/report draws them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/results/frame/expectation.hpp"
#include "src/results/frame/table.hpp"

namespace mgsync {

struct result;

struct scale {
  std::string label{};                    // with its unit: "latency (us)"
  bool logarithmic = false;               // all values must then be above 0
  std::vector<std::string> categories{};  // at 0, 1, 2, ... in place of numbers
};

struct chart_point {
  double x = 0;
  double y = 0;
  std::optional<double> low{}, high{};  // its 95 % interval, drawn as a band
  std::vector<double> samples{};        // the batches' values: drawn as small dots
  std::string note{};                   // shown while the pointer is on it
  std::string source{};                 // short_key() of the point it is from: a page links to that row
};

struct curve {
  std::string name;
  std::vector<chart_point> points{};  // in the order of x
  bool reference = false;             // from elsewhere (a paper, a prediction): drawn dashed
  bool dots = false;                  // draw the points without a line, and intervals as bars
};

struct chart {
  figure_heading heading;
  scale x, y;
  std::vector<curve> curves;
};

struct heat_map {
  figure_heading heading;
  std::string row_label, column_label;
  std::vector<std::string> rows{}, columns{};
  std::vector<std::vector<std::optional<double>>>
      values{};  // [row][column]; nothing: not measured, `holes` says why
  std::string unit{};
  std::vector<std::vector<std::string>> holes{};    // [row][column]; may be empty
  std::vector<std::vector<std::string>> sources{};  // [row][column], as a chart point's; may be empty
  bool in_order = true;                             // the columns are values that grow, or steps of one way

  // Adds a row with the first metric of each column's result; nullptr: no value.
  void add(std::string row, const std::vector<const result*>&);
};

// How a bar looks that is not simply there to be had. Each mark has one meaning in a picture, which its
// legend tells; a bar may have several.
struct bar_marks {
  bool hollow = false;  // its outline
  bool pale = false;
  bool dashed = false;  // its outline, dashed
  bool any() const { return hollow || pale || dashed; }
};

// Bars from zero (or, on a logarithmic scale, from the left edge), each of one part or of several stacked
// ones.
struct bar {
  std::string name;
  std::vector<double> parts;
  std::optional<double> low{}, high{};  // of the sum
  std::string note{};                   // after the value: "code-checked, cycle counter"
  bool reference = false;               // beside the others, to be compared with: no words are made of it
  std::string source{};                 // as a chart point's
  // Of a bar of one part: what was measured. It has the colour of the curve of this name on the same page.
  std::string subject{};
  std::size_t file = 0;  // as the result's
  bar_marks marks{};
  bool is_range = false;  // low and high are those of all batches, too few for 95 %
};

struct bar_chart {
  figure_heading heading;
  scale values;
  std::vector<std::string> part_names{};  // of stacked bars
  std::vector<bar> bars{};
  bool in_terminal = false;  // also drawn under the tables of a command, in characters
  std::vector<std::pair<bar_marks, std::string>> legend{};  // what each mark means that its bars have
};

// Events over time: a row for each track (a warp, a block, a GPU).
struct event {
  std::string name;  // its kind: events of one name have one colour
  double begin = 0;
  double end = 0;
  std::string note{};  // shown while the pointer is on it
  bool operator==(const event&) const = default;
};

struct track {
  std::string name;
  std::vector<event> events;  // in time, none of them overlapping
};

struct timeline {
  figure_heading heading;
  std::string unit;  // of begin and end: "cycles", "us"
  std::vector<track> tracks;
  double uncertainty = 0;  // no order is claimed between tracks within this time; drawn as a bracket
};

using figure = std::variant<chart, heat_map, bar_chart, timeline>;

const figure_heading& heading_of(const figure&);

// What a page shows in the place of sentences that say the same: first what to do, then each further part
// under a word of its own, so that readers find what they look for.
struct told_in_parts {
  std::vector<std::string> sentences;  // that it stands for; it is shown where the first of them would be
  std::string words;                   // "On 2 GPUs, take multigrid:library: 2.08 us at 1x32."
  std::vector<std::pair<std::string, std::string>> parts{};  // "how sure": "95 % interval ..."
};

// A study's evaluation of results.
struct evaluation {
  std::vector<std::string> sentences{};  // the findings, the most important first
  std::vector<table> tables{};
  std::vector<figure> figures{};
  mgsync::expectations expectations{};  // all expectations that are in the tables
  std::vector<told_in_parts> in_parts{};

  void add(table);                                 // adds it if it has rows
  void add(figure_heading, mgsync::expectations);  // adds them as a table, if there are any
};

}  // namespace mgsync
