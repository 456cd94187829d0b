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
  frame<result> results;

  bool is_measured() const {
    return first(results, [](const result& r) {
             return r.has_metrics() || r.status == result_status::failed;
           }) != nullptr;
  }
  std::string unit() const {
    const auto* one = first(results, &result::has_metrics);
    return one == nullptr ? "-" : first_metric(*one).unit;
  }
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
    const auto tried = where(one.results, [](const result& r) { return r.status != result_status::waived; });
    const auto said_by = [&](const result& r) { return said_of(r.point, what).text; };
    auto columns = groups(tried, said_by);
    std::ranges::stable_sort(columns, {},
                             [&](const auto& c) { return said_of(c.second.front()->point, what).number; });
    std::vector<method> methods;
    for (const auto& [name, some] : groups(tried, marked_subject_of)) {
      auto& cells = methods.emplace_back(method{name, {}}).cells;
      const auto line = one_by(some, said_by);
      for (const auto& [said, rows] : columns) cells.push_back(at(line, said));
    }
    std::stable_sort(methods.begin(), methods.end(), goes_first);
    const std::string compared = one.key.study == point{}.study ? "barrier" : "subject";
    table t{{what, heading_of(one, what)}, {what == "members" ? compared : compared + " \\ " + what}};
    for (const auto& [said, rows] : columns) t.columns.push_back(said);
    for (const method& m : methods) {
      std::vector<table_entry> row{m.name};
      for (const auto* cell : m.cells) row.push_back(entry_of(cell));
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
