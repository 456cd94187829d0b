#include "src/results/files/csv_document.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
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
// begin with the metric's name.
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
  void needs(std::string_view key, topology::device device) { add(key, std::string(to_string(device))); }
  void needs(std::string_view, better) {}
  void needs(std::string_view, const by_name<std::vector<axis>>& axes) {
    for (const auto& name : all_.axes) {
      const auto found = std::ranges::find(axes.list, name, &axis::name);
      add(name, found == axes.list.end() ? "" : text_of(*found));
    }
  }
  void may(std::string_view key, std::optional<double> value) { needs(key, value.value_or(NAN)); }

 private:
  void add(std::string_view key, std::string text) {
    row_.emplace_back(of_ + (of_.empty() || key.empty() ? "" : "_") + std::string(key),
                      empty_ ? "" : std::move(text));
  }

  std::vector<field>& row_;
  const columns& all_;
  std::string of_;
  bool empty_;
};

void add_metric(std::vector<field>& row, const columns& all, metric column, const result& one) {
  const metric* found = one.find(column.name);
  const bool has = found != nullptr && column_name(*found) == column_name(column);
  cells way(row, all, column_name(column), !has);
  if (has) column = *found;
  fields(way, column);
}

// Column names together with their values, so that the header always matches the rows.
std::vector<field> row_of(const columns& all, const json_document& document, const result& one) {
  const bool unchecked = one.verdict.kind == verdict_kind::unchecked;
  const auto or_else = [&one](const char* key, const std::string& otherwise) {
    const auto found = one.found(key);
    return found.empty() ? otherwise : found;
  };
  std::vector<field> row{{"host", or_else("host", document.machine.host)},
                         {"mgsync", or_else("mgsync", document.machine.mgsync)}};
  point of = one.point;
  cells way(row, all);
  fields(way, of);
  row.insert(row.end(), {{"status", std::string(to_string(one.status))},
                         {"reason", one.reason},
                         {"attempt", fmt::format("{}", one.attempt)},
                         {"verdict", std::string(to_string(one.verdict.kind))},
                         {"verdict_scope", unchecked ? "" : std::string(to_string(one.verdict.scope))},
                         {"verdict_passed", unchecked ? "" : fmt::format("{}", one.verdict.passed)},
                         {"check_rounds", fmt::format("{}", one.verdict.rounds)},
                         {"check_violations", unchecked ? "" : fmt::format("{}", one.verdict.violations)}});
  for (const auto& key : all.details) {
    const auto found = one.verdict.details.find(key);
    row.emplace_back("verdict_" + key, found == one.verdict.details.end() ? "" : found->second);
  }
  for (const metric& each : all.metrics) add_metric(row, all, each, one);
  row.emplace_back("stopped", std::string(to_string(one.stopped)));
  row.emplace_back("method", one.method);
  for (const auto& key : all.environment) row.emplace_back(key, one.found(key));
  for (const auto& column : all.quantities) {
    const auto found = one.quantities.find(column.name);
    const bool has = found != one.quantities.end() && found->second.unit == column.unit;
    row.emplace_back(column_name(column), has ? fmt::format("{}", fmt::join(found->second.values, " ")) : "");
  }
  row.emplace_back("notes", fmt::format("{}", fmt::join(one.notes, "; ")));
  if (all.doubts) row.emplace_back("doubts", words_of(one.doubts));
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
