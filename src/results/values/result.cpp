#include "src/results/values/result.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace mgsync {

namespace {

// A way of fields that adds a note for each number of a metric that is not finite.
struct gaps_in {
  const metric& of;
  std::vector<std::string>& notes;
  void needs(std::string_view key, double value) const {
    if (!std::isfinite(value)) notes.push_back(fmt::format("{}.{} is no finite number", of.name, key));
  }
  void needs(std::string_view, const auto&) const {}
  void may(std::string_view, const auto&) const {}
};

}  // namespace

std::vector<std::string> notes_with_gaps(const result& one) {
  auto notes = one.notes;
  for (metric each : one.metrics) {
    gaps_in way{each, notes};
    fields(way, each);
  }
  return notes;
}

std::string_view word_of(const verdict& one) {
  if (one.kind == verdict_kind::unchecked) return "unchecked";
  if (!one.passed) return "FAIL";
  return one.scope == verdict_scope::all ? "pass" : "partial";
}

const metric* result::find(std::string_view name) const {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [name](const metric& one) { return one.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

std::string result::found(const std::string& key) const {
  const auto value = environment.find(key);
  return value == environment.end() ? "" : value->second;
}

std::string marked_subject_of(const result& one) {
  const bool less = one.facts && one.facts->orders_less();
  return subject_of(one.point) + (less                        ? " (orders less)"
                                  : one.orders_inside_nodes() ? " (memory inside nodes)"
                                                              : "");
}

std::optional<double> result::number(std::string_view name) const {
  const auto& all = numbers(name);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

const std::vector<double>& result::numbers(std::string_view name) const {
  static const std::vector<double> none;
  const auto found = quantities.find(name);
  return found == quantities.end() ? none : found->second.values;
}

}  // namespace mgsync
