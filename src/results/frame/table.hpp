// Tables as values. A column says how its numbers are written, once; a row gives them as they are:
//     table t{{"sums", "Sums over memory", "One each."}, {"way", {"time", ".2f", "us"}, {"share", ".1f %"}}};
//     t.add({r.point.subject, r.find("time"), ratio(least, mine)}, short_key(r.point));
//     e.add(std::move(t));
// As text and as Markdown they are written here, as HTML by src/report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "src/results/metric.hpp"

namespace mgsync {

// What every table and picture has. `name` is a word for files, anchors, --tables and --figure; `caption`
// says in sentences what is seen and where the numbers are from.
struct figure_heading {
  std::string name;
  std::string title;
  std::string caption{};
};

// Without a format a column holds words and stands to the left; with one it stands to the right. ">" writes a
// number as short as it is; ".2f" and the like as fmt does; ".1f %" a share, 0.5 being "50.0 %".
struct column {
  std::string title;
  std::string format{};
  std::string unit{};      // part of the title: "time, us"
  std::size_t blanks = 2;  // in text, between it and the column before

  column(const char* words) : title(words) {}             // implicit: a list of columns reads as
  column(std::string words) : title(std::move(words)) {}  // a list of their titles
  column(std::string words, std::string format_, std::string unit_ = "", std::size_t blanks_ = 2)
      : title(unit_.empty() ? std::move(words) : words + ", " + unit_),
        format(std::move(format_)),
        unit(std::move(unit_)),
        blanks(blanks_) {}

  bool is_right() const { return !format.empty(); }
};

// From a number to another one: "1.2 - 1.4".
struct range {
  double low = 0, high = 0;
  std::string_view between = " - ";
};
range ci95_of(const metric&, double factor = 1);

// Nothing, with the word that stands in its place.
struct missing {
  std::string why = "-";
};

// A number with words behind it, "12.34 (no instruction)"; without words it is that number.
struct noted {
  double number = 0;
  std::string words;
};

// What stands in a table: words as they are, a number for its column's format, or nothing, which is "-": an
// empty optional, no metric, no number (NaN).
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

// Words and numbers as a reader wants them.
struct table {
  figure_heading heading;
  std::vector<column> columns;
  std::vector<std::vector<std::string>> rows{};  // each as long as columns
  std::vector<std::string> sources{};            // by row, as a chart point's; may be empty

  // `source`: short_key() of the point that the row is from; a page links to it.
  void add(const std::vector<table_entry>&, std::string source = "");
};

// The titles and one line for each row, each column as wide as its widest word, without blanks at the end.
std::vector<std::string> aligned_lines(const std::vector<column>&,
                                       std::vector<std::vector<std::string>> rows);

// Title, columns and rows for a terminal, and the caption behind them.
std::string to_text(const table&);
// Columns and rows for a page of documents.
std::string to_markdown(const table&);

}  // namespace mgsync
