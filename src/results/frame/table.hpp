// Tables as plain values. A column's format says once how its numbers are written; rows give the bare
// numbers:
//     table t{{"sums", "Sums over memory", "One each."}, {"way", "time, us | .2f", "share | .1f %"}};
//     t.add({r.point.subject, r.find("time"), ratio(least, mine)}, short_key(r.point));
//     e.add(std::move(t));
// This file writes them as text and as Markdown, src/report as HTML.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "src/results/values/metric.hpp"

namespace mgsync {

// The heading of every table and figure. `name` is a word for files, anchors, --tables and --figure;
// `caption` says in sentences what is seen and where the numbers are from.
struct figure_heading {
  std::string name;
  std::string title;
  std::string caption{};
};

// A column: "barrier" holds words and is left-aligned; "time, us | .2f" numbers, right-aligned, and behind
// the bar their format: ">" writes a number in its shortest form; ".2f" and the like as in fmt; ".1f %" a
// share, so that 0.5 becomes "50.0 %".
struct column {
  std::string title;
  std::string format{};
  std::size_t blanks = 2;  // blanks before this column in text

  column(const char* words);                              // implicit, so that columns can be given as texts
  column(std::string words) : title(std::move(words)) {}  // a title alone, whatever it holds
  column(std::string words, std::string format_, std::size_t blanks_ = 2)
      : title(std::move(words)), format(std::move(format_)), blanks(blanks_) {}

  bool is_right() const { return !format.empty(); }
};

// A range of numbers: "1.2 - 1.4".
struct range {
  double low = 0, high = 0;
  std::string_view between = " - ";
};

// A missing value, with the word to print in its place.
struct missing {
  std::string why = "-";
};

// A number with a remark, "12.34 (no instruction)"; without words only the number.
struct noted {
  double number = 0;
  std::string words;
};

// An entry of a table: words, a number in its column's format, or "-" for a missing value: an empty optional,
// a null metric, or NaN.
class table_entry {
 public:
  table_entry(missing one) : holds_(std::move(one.why)) {}
  table_entry(range one) : holds_(one) {}
  table_entry(noted one) : holds_(std::move(one)) {}
  table_entry(std::nullopt_t) : table_entry(missing{}) {}
  table_entry(const metric* one) : table_entry(one == nullptr ? std::nullopt : std::optional(one->median)) {}
  template <class Value>
  requires(std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) table_entry(Value value)
      : holds_(noted{static_cast<double>(value), {}}) {}
  template <class Value>
  requires std::is_convertible_v<const Value&, std::string_view> table_entry(const Value& words)
      : holds_(std::string(std::string_view(words))) {}
  template <class Value>
  table_entry(const std::optional<Value>& value)
      : table_entry(value ? table_entry(*value) : table_entry(missing{})) {}

  std::string text(const column&) const;

 private:
  std::variant<std::string, noted, range> holds_;
};

// The 95 % interval times the factor; of one batch, which has none, these words.
table_entry ci95_of(const metric&, double factor = 1);

// A table whose entries are already formatted.
struct table {
  figure_heading heading;
  std::vector<column> columns;
  std::vector<std::vector<std::string>> rows{};  // each as long as columns
  std::vector<std::string> sources{};            // by row, short_key() as in chart_point; may be empty

  // `source`: short_key() of the point that the row is from; a page links to it.
  void add(const std::vector<table_entry>&, std::string source = "");
};

// The titles and one line for each row, each column as wide as its widest entry, without trailing blanks.
std::vector<std::string> aligned_lines(const std::vector<column>&,
                                       std::vector<std::vector<std::string>> rows);

// Title, columns, rows and then the caption, for a terminal.
std::string to_text(const table&);
// Columns and rows as a table in Markdown.
std::string to_markdown(const table&);

}  // namespace mgsync
