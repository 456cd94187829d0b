#include "src/results/files/csv_document.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mgsync {
namespace {

using field = std::pair<std::string, std::string>;  // its column and its text

// The columns: every metric (by its column's name) and every axis of any result, once.
struct columns {
  std::vector<metric> metrics;
  std::vector<std::string> axes;
  std::vector<std::string> environment;
  std::vector<std::string> details;  // of verdicts
  std::vector<metric_name> quantities;
  bool doubts = false;
};

template <class List, class Value>
void add_once(List& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

columns columns_of(const std::vector<result>& results) {
  columns all;
  for (const result& one : results) {
    for (const axis& each : one.point.axes) add_once(all.axes, each.name);
    for (const auto& [key, value] : one.environment)
      if (key != "host" && key != "mgsync") add_once(all.environment, key);
    all.doubts = all.doubts || !one.doubts.empty();
    for (const auto& [key, value] : one.verdict.details) add_once(all.details, key);
    for (const auto& [name, each] : one.quantities) add_once(all.quantities, metric_name{name, each.unit});
    for (const metric& each : one.metrics)
      if (std::none_of(all.metrics.begin(), all.metrics.end(),
                       [&](const metric& known) { return column_name(known) == column_name(each); }))
        all.metrics.push_back(each);
  }
  return all;
}

// A way of fields (src/base/fields.hpp) that makes a column of each field; the columns of a metric's numbers
// begin with the metric's name, those of a verdict with "verdict".
class cells {
 public:
  cells(std::vector<field>& row, const columns& all, std::string of = "", bool empty = false)
      : row_(row), all_(all), of_(std::move(of)), empty_(empty) {}

  void needs(std::string_view key, double value) {
    add(key == "median" ? "" : key, std::isfinite(value) ? fmt::format("{}", value) : "");
  }
  void needs(std::string_view, const std::vector<double>& values) {
    add("batches", fmt::format("{}", values.size()));
  }
  void needs(std::string_view key, const std::vector<int>& all) {
    add(key, fmt::format("{}", fmt::join(all, " ")));
  }
  void needs(std::string_view key, const std::string& text) {
    if (key != "unit") add(key, text);  // the column's name contains the unit
  }
  void needs(std::string_view key, std::integral auto number) { add(key, fmt::format("{}", number)); }
  template <class Word>
  requires std::is_enum_v<Word>
  void needs(std::string_view key, Word word) { add(key, std::string(to_string(word))); }
  void needs(std::string_view, better) {}
  void needs(std::string_view, verdict_kind kind) { row_.emplace_back(of_, to_string(kind)); }
  void needs(std::string_view, const by_name<std::vector<axis>>& axes) {
    for (const auto& name : all_.axes) {
      const auto found = std::ranges::find(axes.list, name, &axis::name);
      add(name, found == axes.list.end() ? "" : text_of(*found));
    }
  }
  void needs(std::string_view key, verdict& one) {
    cells of_it(row_, all_, std::string(key), one.kind == verdict_kind::unchecked);
    fields(of_it, one);
  }
  void needs(std::string_view, const by_name<std::vector<metric>>& metrics) {
    for (metric column : all_.metrics) {
      const auto found = std::ranges::find(metrics.list, column_name(column),
                                           [](const metric& one) { return column_name(one); });
      const bool has = found != metrics.list.end();
      if (has) column = *found;
      cells of_it(row_, all_, column_name(column), !has);
      fields(of_it, column);
    }
  }
  void may(std::string_view key, std::optional<double> value) { needs(key, value.value_or(NAN)); }
  void may(std::string_view key, const auto& value) { needs(key, value); }
  void may(std::string_view, const std::vector<attachment>&) {}
  void may(std::string_view, const std::map<std::string, std::string>& environment) {
    add_all(all_.environment, environment);
  }
  template <class Tell, class Take>
  void may(std::string_view key, const told_as<std::vector<std::string>, Tell, Take>& notes) {
    add(key, fmt::format("{}", fmt::join(notes.value, "; ")));
  }
  void operator()(std::string_view, const std::map<std::string, std::string>& details) {
    add_all(all_.details, details);
  }
  void operator()(std::string_view, const quantities_by_name& quantities) {
    for (const auto& column : all_.quantities) {
      const auto found = quantities.find(column.name);
      const bool has = found != quantities.end() && found->second.unit == column.unit;
      add(column_name(column), has ? fmt::format("{}", fmt::join(found->second.values, " ")) : "");
    }
  }
  void operator()(std::string_view key, const std::vector<doubt>& doubts) {
    if (all_.doubts) add(key, words_of(doubts));
  }
  void operator()(std::string_view, const std::optional<known_facts>&) {}

 private:
  void add(std::string_view key, std::string text) {
    row_.emplace_back(of_ + (of_.empty() || key.empty() ? "" : "_") + std::string(key),
                      empty_ ? "" : std::move(text));
  }
  void add_all(const std::vector<std::string>& keys, const std::map<std::string, std::string>& words) {
    for (const auto& key : keys) add(key, words.contains(key) ? words.at(key) : "");
  }

  std::vector<field>& row_;
  const columns& all_;
  std::string of_;
  bool empty_;
};

// Column names together with their values, so that the header always matches the rows.
std::vector<field> row_of(const columns& all, const json_document& document, const result& one) {
  const auto or_else = [&one](const char* key, const std::string& otherwise) {
    const auto found = one.found(key);
    return found.empty() ? otherwise : found;
  };
  std::vector<field> row{{"host", or_else("host", document.machine.host)},
                         {"mgsync", or_else("mgsync", document.machine.mgsync)}};
  cells way(row, all);
  fields(way, const_cast<result&>(one));  // changes nothing
  return row;
}

template <class Member>
std::string line_of(const std::vector<field>& row, Member member) {
  std::vector<std::string> fields;
  for (const field& one : row) fields.push_back(csv_field(one.*member));
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string format_csv(const json_document& document) {
  const columns all = columns_of(document.results);
  std::string out = line_of(row_of(all, document, result{}), &field::first);
  for (const result& one : document.results) out += line_of(row_of(all, document, one), &field::second);
  return out;
}

}  // namespace mgsync
