// Selects and groups rows of any type, for evaluations. Rows are results, or what a study made of
// them. A frame holds pointers to rows that somebody else owns.
//     const auto sums = where(results, is_measured_of("reduction"));
//     for (const auto& [type, some] : by(sums, word("type")))
//       for (const auto& [bytes, ways] : pivot(some, number("bytes"), subject_of_row)) ...
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/results/frame/expectation.hpp"
#include "src/results/values/result.hpp"

namespace mgsync {

template <class Row>
using frame = std::vector<const Row*>;

namespace frames {

template <class Row>
const Row& row_of(const Row& one) {
  return one;
}
template <class Row>
const Row& row_of(const Row* one) {
  return *one;
}
template <class Row>
const Row& row_of(Row* one) {
  return *one;
}
template <class Rows>
using row = std::remove_cvref_t<decltype(row_of(*std::begin(std::declval<const Rows&>())))>;
template <class Rows, class Key>
using key = std::remove_cvref_t<std::invoke_result_t<Key, const row<Rows>&>>;

template <class Row>
struct joined {
  std::vector<std::pair<const Row*, const Row*>> both;
  frame<Row> left, right;
};

}  // namespace frames

// The rows for which all conditions hold, in their order.
template <class Rows, class... Conditions>
frame<frames::row<Rows>> where(const Rows& rows, const Conditions&... hold) {
  frame<frames::row<Rows>> some;
  for (const auto& each : rows)
    if (const auto& one = frames::row_of(each); (std::invoke(hold, one) && ...)) some.push_back(&one);
  return some;
}

// The first of them; nullptr: there is none.
template <class Rows, class... Conditions>
const frames::row<Rows>* first(const Rows& rows, const Conditions&... hold) {
  for (const auto& each : rows)
    if (const auto& one = frames::row_of(each); (std::invoke(hold, one) && ...)) return &one;
  return nullptr;
}

// The row with the smallest, or the largest, value; of several the first. nullptr: there are no rows.
template <class Rows, class Value>
const frames::row<Rows>* least(const Rows& rows, const Value& value) {
  const frames::row<Rows>* best = nullptr;
  for (const auto& each : rows)
    if (const auto& one = frames::row_of(each);
        best == nullptr || std::invoke(value, one) < std::invoke(value, *best))
      best = &one;
  return best;
}
template <class Rows, class Value>
const frames::row<Rows>* most(const Rows& rows, const Value& value) {
  const frames::row<Rows>* best = nullptr;
  for (const auto& each : rows)
    if (const auto& one = frames::row_of(each);
        best == nullptr || std::invoke(value, *best) < std::invoke(value, one))
      best = &one;
  return best;
}

// The different keys, in the order in which the rows have them.
template <class Rows, class Key>
std::vector<frames::key<Rows, Key>> keys(const Rows& rows, const Key& key) {
  std::vector<frames::key<Rows, Key>> found;
  std::set<frames::key<Rows, Key>> seen;
  for (const auto& each : rows)
    if (auto one = std::invoke(key, frames::row_of(each)); seen.insert(one).second)
      found.push_back(std::move(one));
  return found;
}

// The rows grouped by key, in their order.
template <class Rows, class Key>
std::map<frames::key<Rows, Key>, frame<frames::row<Rows>>> by(const Rows& rows, const Key& key) {
  std::map<frames::key<Rows, Key>, frame<frames::row<Rows>>> groups;
  for (const auto& each : rows)
    groups[std::invoke(key, frames::row_of(each))].push_back(&frames::row_of(each));
  return groups;
}

// The same, the groups in the order of their first rows.
template <class Rows, class Key>
std::vector<std::pair<frames::key<Rows, Key>, frame<frames::row<Rows>>>> groups(const Rows& rows,
                                                                                const Key& key) {
  auto of_key = by(rows, key);
  std::vector<std::pair<frames::key<Rows, Key>, frame<frames::row<Rows>>>> found;
  for (auto& one : keys(rows, key)) found.emplace_back(one, std::move(of_key.at(one)));
  return found;
}

// The row of each key; of several the last.
template <class Rows, class Key>
std::map<frames::key<Rows, Key>, const frames::row<Rows>*> one_by(const Rows& rows, const Key& key) {
  std::map<frames::key<Rows, Key>, const frames::row<Rows>*> found;
  for (const auto& each : rows) found[std::invoke(key, frames::row_of(each))] = &frames::row_of(each);
  return found;
}

// The value of a key, or nullptr.
template <class Key, class Value, class Order>
const Value* at(const std::map<Key, Value, Order>& all, const std::type_identity_t<Key>& key) {
  const auto found = all.find(key);
  return found == all.end() ? nullptr : &found->second;
}
template <class Key, class Row, class Order>
const Row* at(const std::map<Key, const Row*, Order>& all, const std::type_identity_t<Key>& key) {
  const auto found = all.find(key);
  return found == all.end() ? nullptr : found->second;
}

// The row with the smallest value of each key; of several the first.
template <class Rows, class Key, class Value>
std::map<frames::key<Rows, Key>, const frames::row<Rows>*> least_by(const Rows& rows, const Key& key,
                                                                    const Value& value) {
  std::map<frames::key<Rows, Key>, const frames::row<Rows>*> found;
  for (const auto& [name, some] : by(rows, key)) found[name] = least(some, value);
  return found;
}

// The rows of one side, each with the other side's row of the same key (of several the last), and the rows
// whose key the other side does not have; in the order of their side.
template <class Left, class Right, class Key>
frames::joined<frames::row<Left>> join(const Left& left, const Right& right, const Key& key) {
  const auto of_left = one_by(left, key), of_right = one_by(right, key);
  frames::joined<frames::row<Left>> all;
  for (const auto& each : left) {
    const auto& one = frames::row_of(each);
    if (const auto* other = at(of_right, std::invoke(key, one))) all.both.emplace_back(&one, other);
    else all.left.push_back(&one);
  }
  all.right = where(right, [&](const auto& one) { return !of_left.contains(std::invoke(key, one)); });
  return all;
}

// The rows as a table of two keys: {down: {across: row}}; of several rows with the same keys the last.
template <class Rows, class Down, class Across>
std::map<frames::key<Rows, Down>, std::map<frames::key<Rows, Across>, const frames::row<Rows>*>> pivot(
    const Rows& rows, const Down& down, const Across& across) {
  std::map<frames::key<Rows, Down>, std::map<frames::key<Rows, Across>, const frames::row<Rows>*>> lines;
  for (const auto& each : rows) {
    const auto& one = frames::row_of(each);
    lines[std::invoke(down, one)][std::invoke(across, one)] = &one;
  }
  return lines;
}

// of / to; nothing where one of them is missing or `to` is not above 0.
std::optional<double> ratio(std::optional<double> of, std::optional<double> to);

// What became of a point that has no value, in words for a cell or an expectation.
std::string why_not(const result&);
// The median of the first metric as an input of an expectation. `name` says what it is of, where it is
// missing; nullptr: the point was not tried.
input input_of(const result*, const std::string& name);

// Conditions and keys for rows that are results.
inline auto is_of(std::string_view study) {
  return [study](const result& r) { return r.point.study == study; };
}
inline auto is_measured_of(std::string_view study) {
  return [study](const result& r) { return r.point.study == study && r.has_metrics(); };
}
inline auto is_subject(std::string_view subject) {
  return [subject](const result& r) { return r.point.subject == subject; };
}
inline auto is_variant(std::string_view variant) {
  return [variant](const result& r) { return r.point.variant == variant; };
}
inline auto has(std::string_view axis, std::string_view word) {
  return [axis, word](const result& r) { return r.point.word(axis) == word; };
}
inline auto word(std::string_view axis) {
  return [axis](const result& r) { return r.point.word(axis); };
}
inline auto number(std::string_view axis, double otherwise = 0) {
  return [axis, otherwise](const result& r) { return r.point.number(axis).value_or(otherwise); };
}
// The median of the first metric, by which subjects are ranked.
inline double median_of(const result& r) { return r.metrics.front().median; }
inline const metric& first_metric(const result& r) { return r.metrics.front(); }

// By how much the same point was seen to differ from one process to another (docs/results/host-barriers.md).
inline constexpr double margin_between_processes = 0.04;

// Whether 95 % intervals show that what ends at `high` is less than what begins at `low`. Where they are of
// different processes, the margin counts too.
inline bool is_shown_less(double high, double low, bool of_one_process = true) {
  return high * (of_one_process ? 1 : 1 + margin_between_processes) < low;
}
// Whether the first metric of `a` is shown to be less than that of `b`; one of one batch shows nothing.
bool is_shown_less(const result& a, const result& b);

// "2 batches only", where these are too few for a 95 % interval of the first metric; otherwise empty.
std::string few_batches_of(const result&);

}  // namespace mgsync
