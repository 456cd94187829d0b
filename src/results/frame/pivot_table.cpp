#include "src/results/frame/pivot_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/printable.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/results_table.hpp"
#include "src/results/frame/table.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

constexpr const char* always[] = {"members", "ranks", "placement", "node"};  // what every point has

// What --value can be of any result, and how the heading names it.
constexpr std::pair<std::string_view, std::string_view> of_any_result[] = {
    {"median", "medians"},
    {"ci95", "medians and 95 % intervals"},
    {"range", "medians, least and largest samples"},
    {"width", "half of the 95 % interval, in % of the median"}};

// The numbers that --value names: first the one that is compared. Empty: this result has none.
std::vector<double> numbers_of(const result& one, const std::string& value) {
  if (!one.has_metrics()) return {};
  const metric& m = first_metric(one);
  if (value == "median") return {m.median};
  if (value == "ci95") return {m.median, m.ci95_low, m.ci95_high};
  if (value == "range") return {m.median, m.min, m.max};
  if (value == "width")
    return m.of_one_batch() ? std::vector<double>{} : std::vector{50 * (m.ci95_high - m.ci95_low) / m.median};
  if (const metric* named = one.find(value)) return {named->median};
  return one.numbers(value);
}

// At least three digits behind the point beside each other, so that an interval can be read.
std::string in_an_interval(double number) {
  return std::abs(number) < 1 ? format_number(number) : fmt::format("{:.3f}", number);
}

// One of 95 %.
bool has_interval_of_95(const result& one) {
  return !first_metric(one).of_one_batch() && few_batches_of(one).empty();
}

table_entry entry_of(const result* one, const std::string& value) {
  if (one != nullptr && one->status == result_status::failed) return "FAIL";
  const auto numbers = one == nullptr ? std::vector<double>{} : numbers_of(*one, value);
  if (numbers.empty()) return std::nullopt;
  const char* const mark = has_interval_of_95(*one) ? "" : " ?";
  if (value == "ci95" || value == "range")
    return fmt::format("{} ({}..{}){}", in_an_interval(numbers[0]), in_an_interval(numbers[1]),
                       in_an_interval(numbers[2]), value == "ci95" ? mark : "");
  const auto [least, most] = std::ranges::minmax(numbers);
  return least < most ? fmt::format("{}..{}", format_number(least), format_number(most))
                      : format_number(least) + mark;
}

// The lines below the tables: the meaning of marks that occur, and which values mean little.
std::string legend_of(const std::string& tables, std::span<const result> results) {
  std::string text =
      tables.find(" ? |") == std::string::npos ? "" : "?: of one batch, or too few for a 95 % interval\n";
  if (const std::string summary = summary_of(results); !summary.empty())
    text += (text.empty() ? "" : "\n") + summary + "\n";
  return text;
}

// One table: the results that have the same key, in the order of their first.
struct part {
  point key;
  frame<result> results;

  bool is_measured() const {
    return first(results, [](const result& r) {
             return r.has_metrics() || r.status == result_status::failed;
           }) != nullptr;
  }
  const metric* measured() const {
    const auto* one = first(results, &result::has_metrics);
    return one == nullptr ? nullptr : &first_metric(*one);
  }
  std::string unit() const { return measured() == nullptr ? "-" : measured()->unit; }
};

std::vector<part> parts_of(std::span<const result> results,
                           const std::function<point(const point&)>& key_of) {
  std::vector<part> parts;
  const auto text_of_key = [&](const result& r) { return canonical_text(key_of(r.point)); };
  for (auto& [text, some] : groups(results, text_of_key))
    parts.push_back({key_of(some.front()->point), std::move(some)});
  std::erase_if(parts, [](const part& one) { return !one.is_measured(); });
  return parts;
}

std::string in_markdown(const table& t) {
  return fmt::format("{}\n\n{}\n", markdown_words(t.heading.title), to_markdown(t));
}

std::string joined(std::initializer_list<std::string> words) {
  std::string text;
  for (const auto& word : words)
    if (!word.empty()) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The order of columns: numbers ascending, words in the order of their first appearance.
struct value {
  std::string text;
  double number = 0;
};

value said_of(const point& p, const std::string& what) {
  if (what == "members") return {fmt::format("{}", p.members), static_cast<double>(p.members)};
  if (what == "ranks") return {fmt::format("{}", p.ranks), static_cast<double>(p.ranks)};
  if (what == "placement") return {p.placement};
  if (what == "node") return {p.node.empty() ? "-" : p.node};
  if (what == "subject") return {subject_of(p)};
  if (what == "shapes") {  // by blocks per GPU in all, then blocks per SM, then threads
    const auto in_all = p.number(axes::blocks);
    return {format_shape(p), (in_all ? *in_all : 1e6 + p.number(axes::blocks_per_sm).value_or(0)) * 1e5 +
                                 p.number(axes::threads_per_block).value_or(0)};
  }
  const axis* found = p.find(what);
  return {found == nullptr ? "-" : text_of(*found), p.number(what).value_or(0)};
}

point without(const point& p, const std::string& what) {
  point key = p;
  key.subject.clear();
  key.variant.clear();
  key.group.clear();
  if (what == "members") {  // whether all members are in one rank, not in how many they are
    key.ranks = p.ranks > 1 ? 2 : 1;
    key.members = key.ranks;
  }
  if (what == "ranks" || what == "file") key.ranks = 1;
  if (what == "file") key.remove(axes::peer_memory_asked);
  if (what == "placement") key.placement = point{}.placement;
  if (what == "node") key.node.clear();
  if (what == "shapes")
    for (const auto name : {axes::blocks_per_sm, axes::blocks, axes::threads_per_block}) key.remove(name);
  else key.remove(what);
  return key;
}

// "medians in us", "load in GB/s".
std::string what_is_shown(const part& one, const pivot_request& asked) {
  if (!asked.relative_to.empty()) return "times that of " + asked.relative_to;
  for (const auto& [name, words] : of_any_result)
    if (name == asked.value) {
      if (asked.value == "width") return std::string(words);
      if (one.measured()->name == "NEW/BASE" && asked.value == "median") return "NEW/BASE";
      return one.unit().empty() ? fmt::format("{}: {}", one.measured()->name, words)  // a ratio
                                : fmt::format("{} in {}", words, one.unit());
    }
  for (const auto* each : one.results) {
    if (const metric* named = each->find(asked.value))
      return fmt::format("{} in {}", asked.value, named->unit);
    if (const auto* named = at(each->quantities, asked.value); named != nullptr && !named->unit.empty())
      return fmt::format("{} in {}", asked.value, named->unit);
  }
  return asked.value;
}

std::string heading_of(const part& one, const pivot_request& asked) {
  const std::string kind = one.key.device == topology::device::gpu ? "GPUs" : "host members";
  const std::string study = one.key.study == point{}.study ? "" : "study " + one.key.study;
  const std::string shape = format_shape(one.key);
  return joined({study, one.key.device == topology::device::host && shape == "1" ? "" : shape,
                 fmt::format("{} ({})", asked.by == "members" ? kind : count_of_members(one.key),
                             what_is_shown(one, asked)),
                 circumstances_of(one.key)});
}

struct method {
  std::string name;  // with its mark
  std::string subject;
  frame<result> cells;  // by column; nullptr: none
};

// The one that is better at the last column where either has a number goes first; a number of one batch is
// none for that.
bool goes_first(const method& a, const method& b) {
  const auto last = [](const method& m) -> std::pair<std::size_t, const metric*> {
    for (std::size_t i = m.cells.size(); i > 0; --i)
      if (const auto* r = m.cells[i - 1];
          r != nullptr && r->has_metrics() && !first_metric(*r).of_one_batch())
        return {i, &first_metric(*r)};
    return {0, nullptr};
  };
  const auto [column_a, metric_a] = last(a);
  const auto [column_b, metric_b] = last(b);
  if (column_a != column_b) return column_a > column_b;
  return metric_a != nullptr && times_worse(*metric_b, *metric_a) < 1;
}

void refuse_unless_among(const std::vector<std::string>& accepted, std::string_view option,
                         std::string_view word) {
  if (std::ranges::find(accepted, word) == accepted.end())
    throw usage_error(
        fmt::format("{} is '{}'; of these results accepted: {}", option, word, fmt::join(accepted, ", ")));
}

void refuse_unknown(std::span<const result> results, const pivot_request& asked) {
  std::vector<std::string> known(std::begin(always), std::end(always));
  known.insert(known.end(), {"shape", "shapes"});
  if (asked.summary) known.emplace_back("subject");
  std::vector<std::string> values;
  for (const auto& [name, words] : of_any_result) values.emplace_back(name);
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
  };
  for (const result& one : results) {
    for (const axis& each : one.point.axes) add(known, each.name);
    for (const metric& each : one.metrics) add(values, each.name);
    for (const auto& [name, each] : one.quantities) add(values, name);
  }
  refuse_unless_among(known, "--by", asked.by);
  refuse_unless_among(values, "--value", asked.value);
  const auto subjects = keys(results, [](const result& r) { return subject_of(r.point); });
  if (!asked.relative_to.empty()) refuse_unless_among(subjects, "--relative-to", asked.relative_to);
  if (!asked.sum.empty())
    for (const auto word : split_at_commas(asked.sum)) refuse_unless_among(subjects, "--sum", word);
}

// What a column has of several subjects together; nothing where one of them has no number.
table_entry sum_of(const std::vector<method>& methods, const std::string& sum, std::size_t column,
                   const std::string& value) {
  double all = 0;
  for (const auto word : split_at_commas(sum)) {
    const auto* one = first(methods, [&](const method& m) { return m.subject == word; });
    const auto* cell = one == nullptr ? nullptr : one->cells[column];
    const auto numbers = cell == nullptr ? std::vector<double>{} : numbers_of(*cell, value);
    if (numbers.empty()) return std::nullopt;
    all += numbers.front();
  }
  return format_number(all);
}

table_entry entry_over(const result* one, const result* base, const std::string& value) {
  const auto number = [&](const result* r) -> std::optional<double> {
    const auto all = r == nullptr ? std::vector<double>{} : numbers_of(*r, value);
    return all.empty() ? std::nullopt : std::optional(all.front());
  };
  const auto times = ratio(number(one), number(base));
  return times ? table_entry(fmt::format("{:.3f}", *times)) : std::nullopt;
}

table table_of(const part& one, const pivot_request& asked) {
  const auto tried = where(one.results, [](const result& r) { return r.status != result_status::waived; });
  const auto said_by = [&](const result& r) { return said_of(r.point, asked.by).text; };
  auto columns = groups(tried, said_by);
  std::ranges::stable_sort(columns, {},
                           [&](const auto& c) { return said_of(c.second.front()->point, asked.by).number; });
  std::vector<method> methods;
  for (const auto& [name, some] : groups(tried, marked_subject_of)) {
    auto& cells = methods.emplace_back(method{name, subject_of(some.front()->point), {}}).cells;
    const auto line = one_by(some, said_by);
    for (const auto& [said, rows] : columns) cells.push_back(at(line, said));
  }
  std::stable_sort(methods.begin(), methods.end(), goes_first);
  const std::string compared = one.key.study == point{}.study ? "barrier" : "subject";
  table t{{asked.by, heading_of(one, asked)},
          {asked.by == "members" ? compared : compared + " \\ " + asked.by}};
  for (const auto& [said, rows] : columns) t.columns.push_back(said);
  const auto* base = first(methods, [&](const method& m) { return m.subject == asked.relative_to; });
  for (const method& m : methods) {
    if (&m == base) continue;
    std::vector<table_entry> row{m.name};
    for (std::size_t i = 0; i < columns.size(); ++i)
      row.push_back(asked.relative_to.empty()
                        ? entry_of(m.cells[i], asked.value)
                        : entry_over(m.cells[i], base == nullptr ? nullptr : base->cells[i], asked.value));
    t.add(row);
  }
  if (!asked.sum.empty()) {
    std::vector<table_entry> row{fmt::format("{}", fmt::join(split_at_commas(asked.sum), " + "))};
    for (std::size_t i = 0; i < columns.size(); ++i)
      row.push_back(sum_of(methods, asked.sum, i, asked.value));
    t.add(row);
  }
  return t;
}

// Every number that --value names, pooled over all results of each value of --by, and of all of them.
std::string summary_by(std::span<const result> results, const pivot_request& asked) {
  const auto measured = where(results, &result::has_metrics);
  const auto pooled = [&](const auto& some) {
    std::vector<double> all;
    for (const auto* r : some) {
      const auto numbers = numbers_of(*r, asked.value);
      // An interval or a range is of one number, the first.
      const bool several = asked.value != "ci95" && asked.value != "range";
      all.insert(all.end(), numbers.begin(),
                 numbers.begin() +
                     std::min<std::ptrdiff_t>(several ? std::ssize(numbers) : 1, std::ssize(numbers)));
    }
    std::ranges::sort(all);
    return all;
  };
  table t{{asked.by, ""},
          {asked.by, "values | >", "least | >", "median | >", "nine of ten within | >", "most | >"}};
  const auto add = [&](const std::string& name, const auto& some) {
    const auto all = pooled(some);
    if (all.empty()) return;
    const auto nine = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(all.size()))) - 1;
    t.add({name, fmt::format("{}", all.size()), format_number(all.front()), format_number(median(all)),
           format_number(all[nine]), format_number(all.back())});
  };
  auto rows = groups(measured, [&](const result& r) { return said_of(r.point, asked.by).text; });
  std::ranges::stable_sort(
      rows, {}, [&](const auto& row) { return said_of(row.second.front()->point, asked.by).number; });
  for (const auto& [name, some] : rows) add(name, some);
  if (rows.size() > 1) add("all", measured);
  if (measured.empty()) return "";
  const part all{measured.front()->point, measured};
  return fmt::format("{}\n\n{}\n", markdown_words(what_is_shown(all, asked)), to_markdown(t));
}

}  // namespace

std::string table_by(std::span<const result> results, const pivot_request& asked) {
  refuse_unknown(results, asked);
  if (asked.summary) return summary_by(results, asked);
  std::string text;
  for (const part& one : parts_of(results, [&](const point& p) { return without(p, asked.by); }))
    text += in_markdown(table_of(one, asked));
  return text + legend_of(text, results);
}

std::string table_by_shape(std::span<const result> results) {
  std::string text;
  const auto key_of = [](const point& p) {
    point key = p;
    for (const auto name : {axes::blocks_per_sm, axes::blocks, axes::threads_per_block}) key.remove(name);
    return key;
  };
  for (const part& one : parts_of(results, key_of)) {
    // Blocks in all (0: per SM) and per SM, then threads.
    const auto blocks = [](const result& r) {
      const auto in_all = r.point.number(axes::blocks);
      return std::pair{in_all.value_or(0), in_all ? 0 : r.point.number(axes::blocks_per_sm).value_or(1)};
    };
    const auto threads = number(axes::threads_per_block);
    table t{{"shape", joined({fmt::format("{} on {} (medians in {})", subject_of(one.key),
                                          count_of_members(one.key), one.unit()),
                              circumstances_of(one.key)})},
            {one.key.device == topology::device::gpu ? "blocks per SM \\ threads" : "threads per member"}};
    const auto columns = by(one.results, threads);
    for (const auto& [count, some] : columns)
      t.columns.push_back(one.key.device == topology::device::gpu ? fmt::format("{}", count) : one.unit());
    for (const auto& [b, line] : pivot(one.results, blocks, threads)) {
      std::vector<table_entry> row{b.first > 0 ? fmt::format("{} in all", b.first)
                                               : fmt::format("{}", b.second)};
      for (const auto& [count, some] : columns) row.push_back(entry_of(at(line, count), "median"));
      t.add(row);
    }
    text += in_markdown(t);
  }
  return text + legend_of(text, results);
}

}  // namespace mgsync
