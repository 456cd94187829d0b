#include "src/studies/pipeline/measured_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::pipeline {

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(at, begin);
    words.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return words;
    begin = end + 1;
  }
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Converts the fields of a row (src/base/fields.hpp) to the cells of a line, and back.
class cells_told {
 public:
  void needs(const char* name, const auto& value) {
    names.emplace_back(name);
    values.push_back(text_of(value));
  }
  void may(const char* name, const auto& value) { needs(name, value); }

  std::vector<std::string> names, values;

 private:
  template <class Value>
  static std::string text_of(const Value& value) {
    if constexpr (std::same_as<Value, bool>) return value ? "1" : "0";
    else if constexpr (std::same_as<Value, double>) return fmt::format("{}", std::round(value * 10) / 10);
    else return fmt::format("{}", value);
  }
  static std::string text_of(const std::vector<double>& all) {
    std::vector<std::string> texts;
    for (const double one : all) texts.push_back(text_of(one));
    return fmt::format("{}", fmt::join(texts, " "));
  }
};

class cells_read {
 public:
  cells_read(const std::vector<std::string_view>& names, std::string_view line, std::string where)
      : names_(names), values_(split(line, ',')), where_(std::move(where)) {
    if (values_.size() != names_.size())
      throw usage_error(
          fmt::format("{}: {} cells, and the header has {}", where_, values_.size(), names_.size()));
  }

  void needs(const char* name, auto& value) {
    if (!has(name)) throw usage_error(fmt::format("{}: there is no column '{}'", where_, name));
    take(cell_, value);
  }
  void may(const char* name, auto& value) {
    if (has(name)) take(cell_, value);
  }

 private:
  bool has(const char* name) {
    const auto found = std::ranges::find(names_, std::string_view(name));
    if (found == names_.end()) return false;
    name_ = name;
    cell_ = values_[static_cast<std::size_t>(found - names_.begin())];
    return true;
  }
  template <class Value>
  void take(std::string_view text, Value& value) const {
    if constexpr (std::same_as<Value, std::string>) value = text;
    else if constexpr (std::same_as<Value, char>) value = text.empty() ? '?' : text.front();
    else if constexpr (std::same_as<Value, bool>) {
      int number = 0;
      take(text, number);
      value = number != 0;
    } else {
      const auto number = number_in<Value>(text);
      if (!number)
        throw usage_error(fmt::format("{}: '{}' in column '{}' is no {}", where_, text, name_,
                                      std::integral<Value> ? "whole number" : "number"));
      value = *number;
    }
  }
  void take(std::string_view text, std::vector<double>& all) const {
    all.clear();
    if (text.empty()) return;
    for (const auto one : split(text, ' ')) take(one, all.emplace_back());
  }

  const std::vector<std::string_view>& names_;
  std::vector<std::string_view> values_;
  std::string where_;
  std::string_view name_, cell_;  // of the field being converted
};

void set(machine_facts& facts, std::string_view key, std::string_view value, std::string_view source) {
  if (key == "name") {
    facts.name = value;
  } else if (key == "sms" || key == "shared_bytes") {
    const auto number = number_in<int>(value);
    if (!number) throw usage_error(fmt::format("{}: '# {}={}' is no whole number", source, key, value));
    (key == "sms" ? facts.sms : facts.shared_bytes) = *number;
  } else {
    facts.others.emplace(key, value);
  }
}

}  // namespace

void set_times(product_row& row, std::vector<double> raw_ns) {
  row.median_ns = median(raw_ns);
  row.min_ns = minimum(raw_ns);
  row.raw_ns = std::move(raw_ns);
}

void set_times(synthetic_row& row, std::vector<double> raw_cycles) {
  row.median_cycles = median(raw_cycles);
  row.raw_cycles = std::move(raw_cycles);
}

template <class Row>
std::string to_csv(std::span<const Row> rows, const machine_facts& facts) {
  std::string out;
  if (!facts.name.empty())
    out += fmt::format("# name={}\n# sms={}\n# shared_bytes={}\n", facts.name, facts.sms, facts.shared_bytes);
  for (const auto& [key, value] : facts.others) out += fmt::format("# {}={}\n", key, value);
  const auto told = [](Row row) {
    cells_told way;
    fields(way, row);
    return way;
  };
  out += fmt::format("{}\n", fmt::join(told(Row{}).names, ","));
  for (const Row& one : rows) out += fmt::format("{}\n", fmt::join(told(one).values, ","));
  return out;
}

template <class Row>
measured<Row> read_rows(std::string_view csv, std::string_view source) {
  measured<Row> found;
  std::vector<std::string_view> names;
  int number = 0;
  for (const std::string_view line : split(csv, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      const std::size_t equal = line.find('=');
      if (equal != std::string_view::npos)
        set(found.facts, line.substr(2, equal - 2), line.substr(equal + 1), source);
    } else if (names.empty()) {
      names = split(line, ',');
    } else {
      cells_read way(names, line, fmt::format("{}, line {}", source, number));
      fields(way, found.rows.emplace_back());
    }
  }
  return found;
}

template std::string to_csv(std::span<const product_row>, const machine_facts&);
template std::string to_csv(std::span<const synthetic_row>, const machine_facts&);
template std::string to_csv(std::span<const stamp_row>, const machine_facts&);
template measured<product_row> read_rows(std::string_view, std::string_view);
template measured<synthetic_row> read_rows(std::string_view, std::string_view);
template std::string to_csv(std::span<const recorded_row>, const machine_facts&);
template measured<recorded_row> read_rows(std::string_view, std::string_view);
template measured<stamp_row> read_rows(std::string_view, std::string_view);

}  // namespace mgsync::pipeline
