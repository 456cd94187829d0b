#include "src/results/frame/pivot_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/printable.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/results_table.hpp"
#include "src/results/frame/table.hpp"

namespace mgsync {
namespace {

constexpr const char* always[] = {"members", "ranks", "placement", "node"};  // what every point has

table_entry entry_of(const result* one) {
  if (one != nullptr && one->status == result_status::failed) return "FAIL";
  if (one == nullptr || !one->has_metrics()) return std::nullopt;
  return format_number(median_of(*one)) + (first_metric(*one).of_one_batch() ? " ?" : "");
}

// The lines below the tables: the meaning of marks that occur, and which values mean little.
std::string legend_of(const std::string& tables, std::span<const result> results) {
  std::string text =
      tables.find(" ? |") == std::string::npos ? "" : "?: of one batch only, without an interval\n";
  if (const std::string summary = summary_of(results); !summary.empty())
    text += (text.empty() ? "" : "\n") + summary + "\n";
  return text;
}

// One table: the results that have the same key, in the order of their first.
struct part {
  point key;
  std::vector<const result*> results;

  bool is_measured() const {
    return std::any_of(results.begin(), results.end(), [](const result* r) {
      return r->has_metrics() || r->status == result_status::failed;
    });
  }
  std::string unit() const {
    for (const result* one : results)
      if (one->has_metrics()) return one->metrics.front().unit;
    return "-";
  }
};

std::vector<part> parts_of(std::span<const result> results,
                           const std::function<point(const point&)>& key_of) {
  std::vector<part> parts;
  std::map<std::string, std::size_t> place;
  for (const result& one : results) {
    const point key = key_of(one.point);
    const auto [found, fresh] = place.try_emplace(canonical_text(key), parts.size());
    if (fresh) parts.push_back({key, {}});
    parts[found->second].results.push_back(&one);
  }
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
  if (what == "ranks") key.ranks = 1;
  if (what == "placement") key.placement = point{}.placement;
  if (what == "node") key.node.clear();
  if (what == "shapes")
    for (const auto name : {axes::blocks_per_sm, axes::blocks, axes::threads_per_block}) key.remove(name);
  else key.remove(what);
  return key;
}

std::string heading_of(const part& one, const std::string& what) {
  const std::string kind = one.key.device == topology::device::gpu ? "GPUs" : "host members";
  const std::string study = one.key.study == point{}.study ? "" : "study " + one.key.study;
  const std::string shape = format_shape(one.key);
  return joined(
      {study, one.key.device == topology::device::host && shape == "1" ? "" : shape,
       fmt::format("{} (medians in {})", what == "members" ? kind : count_of_members(one.key), one.unit()),
       circumstances_of(one.key)});
}

struct method {
  std::string name;
  std::map<std::size_t, const result*> by_column;
};

// The one that is better at the last column where either has a number goes first; a number of one batch is
// none for that.
bool goes_first(const method& a, const method& b) {
  const auto last = [](const method& m) -> std::pair<std::size_t, const metric*> {
    for (auto at = m.by_column.rbegin(); at != m.by_column.rend(); ++at)
      if (at->second->has_metrics() && !at->second->metrics.front().of_one_batch())
        return {at->first + 1, &at->second->metrics.front()};
    return {0, nullptr};
  };
  const auto [column_a, metric_a] = last(a);
  const auto [column_b, metric_b] = last(b);
  if (column_a != column_b) return column_a > column_b;
  return metric_a != nullptr && times_worse(*metric_b, *metric_a) < 1;
}

void refuse_unknown(std::span<const result> results, const std::string& what) {
  std::vector<std::string> known(std::begin(always), std::end(always));
  known.emplace_back("shape");
  known.emplace_back("shapes");
  for (const result& one : results)
    for (const axis& each : one.point.axes)
      if (std::find(known.begin(), known.end(), each.name) == known.end()) known.push_back(each.name);
  if (std::find(known.begin(), known.end(), what) == known.end())
    throw usage_error(
        fmt::format("--by is '{}'; of these results accepted: {}", what, fmt::join(known, ", ")));
}

}  // namespace

std::string table_by(std::span<const result> results, const std::string& what) {
  refuse_unknown(results, what);
  std::string text;
  for (const part& one : parts_of(results, [&](const point& p) { return without(p, what); })) {
    std::vector<value> values;
    for (const result* r : one.results)
      if (const value v = said_of(r->point, what);
          r->status != result_status::waived &&
          std::none_of(values.begin(), values.end(),
                       [&](const value& known) { return known.text == v.text; }))
        values.push_back(v);
    std::stable_sort(values.begin(), values.end(),
                     [](const value& a, const value& b) { return a.number < b.number; });
    std::vector<method> methods;
    for (const result* r : one.results) {
      const std::string text_here = said_of(r->point, what).text;
      const auto column = static_cast<std::size_t>(
          std::find_if(values.begin(), values.end(), [&](const value& v) { return v.text == text_here; }) -
          values.begin());
      if (r->status == result_status::waived || column == values.size()) continue;
      const std::string name = marked_subject_of(*r);
      auto found =
          std::find_if(methods.begin(), methods.end(), [&](const method& m) { return m.name == name; });
      if (found == methods.end()) found = methods.insert(methods.end(), {name, {}});
      found->by_column[column] = r;
    }
    std::stable_sort(methods.begin(), methods.end(), goes_first);
    const std::string compared = one.key.study == point{}.study ? "barrier" : "subject";
    table t{{what, heading_of(one, what)}, {what == "members" ? compared : compared + " \\ " + what}};
    for (const value& v : values) t.columns.push_back(v.text);
    for (const method& m : methods) {
      std::vector<table_entry> row{m.name};
      for (std::size_t i = 0; i < values.size(); ++i) row.push_back(entry_of(at(m.by_column, i)));
      t.add(row);
    }
    text += in_markdown(t);
  }
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
            {"blocks per SM \\ threads"}};
    const auto columns = by(one.results, threads);
    for (const auto& [count, some] : columns) t.columns.push_back(fmt::format("{}", count));
    for (const auto& [b, line] : pivot(one.results, blocks, threads)) {
      std::vector<table_entry> row{b.first > 0 ? fmt::format("{} in all", b.first)
                                               : fmt::format("{}", b.second)};
      for (const auto& [count, some] : columns) row.push_back(entry_of(at(line, count)));
      t.add(row);
    }
    text += in_markdown(t);
  }
  return text + legend_of(text, results);
}

}  // namespace mgsync
