// Pictures as values, and what a study's evaluation makes of results with them. How they look is src/report's
// business.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/results/frame/expectation.hpp"
#include "src/results/frame/table.hpp"

namespace mgsync {

struct result;

struct scale {
  std::string label{};                    // with its unit: "latency (us)"
  bool logarithmic = false;               // then every value is above 0
  std::vector<std::string> categories{};  // at 0, 1, 2, ... in place of numbers
};

struct chart_point {
  double x = 0;
  double y = 0;
  std::optional<double> low{}, high{};  // its interval: drawn as a band
  std::vector<double> samples{};        // the batches' values: drawn as small dots
  std::string note{};                   // shown when pointed at
  std::string source{};                 // short_key() of the point it is from: a page links to that row
};

struct curve {
  std::string name;
  std::vector<chart_point> points;  // in the order of x
  bool reference = false;           // from elsewhere (a paper, a prediction): drawn dashed
  bool dots = false;                // no line joins its points, and intervals are drawn as bars
};

struct chart {
  figure_heading heading;
  scale x, y;
  std::vector<curve> curves;
};

struct heat_map {
  figure_heading heading;
  std::string row_label, column_label;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<std::optional<double>>>
      values;  // [row][column]; nothing: not measured, `holes` says why
  std::string unit;
  std::vector<std::vector<std::string>> holes{};    // [row][column]; may be empty
  std::vector<std::vector<std::string>> sources{};  // [row][column], as a chart point's; may be empty

  // A line of first metrics: of each column's result, or nothing where there is none.
  void add(std::string row, const std::vector<const result*>&);
};

// Bars from zero (or, on a logarithmic scale, from the left edge), each of one part or of several stacked
// ones.
struct bar {
  std::string name;
  std::vector<double> parts;
  std::optional<double> low{}, high{};  // of the sum
  std::string note{};                   // after the value: "code-checked, cycle counter"
  bool reference = false;
  std::string source{};  // as a chart point's
};

struct bar_chart {
  figure_heading heading;
  scale values;
  std::vector<std::string> part_names{};  // of stacked bars
  std::vector<bar> bars;
};

// Events over time: a row for each track (a warp, a block, a GPU).
struct event {
  std::string name;  // its kind: events of one name have one colour
  double begin = 0;
  double end = 0;
  std::string note{};  // shown when pointed at
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

// What a study made of results.
struct evaluation {
  std::vector<std::string> sentences{};  // what was learned, the most important first
  std::vector<table> tables{};
  std::vector<figure> figures{};
  mgsync::expectations expectations{};  // all of them, as they stand in the tables

  void add(table);                                 // where it has rows
  void add(figure_heading, mgsync::expectations);  // as a table, where there are any
};

}  // namespace mgsync
