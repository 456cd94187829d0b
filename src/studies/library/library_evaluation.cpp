#include "src/studies/library/library_evaluation.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/frame/frame.hpp"

namespace mgsync::library {
namespace {

using rows = frame<result>;
using text_key = std::function<std::string(const result&)>;

// The keys of the rows, each once, in the order of the document.
std::vector<std::string> keys_of(const rows& some, const text_key& key) {
  std::vector<std::string> all;
  for (const auto* r : some)
    if (auto one = key(*r); std::find(all.begin(), all.end(), one) == all.end())
      all.push_back(std::move(one));
  return all;
}

auto is_key(const text_key& key, const std::string& value) {
  return [key, value](const result& r) { return key(r) == value; };
}

// A table of two keys, in the order of the document.
table table_of(figure_heading heading, column corner, std::string_view format, const rows& some,
               const text_key& down, const text_key& across,
               const std::function<table_entry(const result&)>& entry) {
  table t{std::move(heading), {std::move(corner)}};
  const auto columns = keys_of(some, across);
  for (const auto& one : columns) t.columns.emplace_back(one, std::string(format));
  for (const auto& line : keys_of(some, down)) {
    std::vector<table_entry> row{line};
    for (const auto& one : columns) {
      const auto* r = first(some, is_key(down, line), is_key(across, one));
      row.push_back(r == nullptr ? table_entry(std::nullopt) : entry(*r));
    }
    t.add(row);
  }
  return t;
}

std::string form_of(const result& r) {
  std::string words = r.point.variant;
  std::replace(words.begin(), words.end(), '-', ' ');
  return words == "algorithm" ? words : "sync " + words;
}
std::string shape_in_words(const result& r) { return format_shape(r.point); }
std::string size_of(const result& r) { return fmt::format("{0} x {0}", r.point.number("cells").value_or(0)); }

// The results of each number of GPUs.
auto by_members(const rows& some) {
  return by(some, [](const result& r) { return r.point.members; });
}

// How much longer a call takes than the algorithm alone at the same shape, in per cent.
std::optional<double> over_algorithm(const rows& some, const result& r) {
  const auto* alone = first(some, is_variant("algorithm"), is_key(shape_in_words, format_shape(r.point)),
                            has("code", r.point.word("code")));
  if (alone == nullptr) return std::nullopt;
  return 100 * (median_of(r) / median_of(*alone) - 1);
}

void add_sync(const rows& all, evaluation& e) {
  for (const auto& [count, some] : by_members(all)) {
    const auto entry = [&some = some](const result& r) -> table_entry {
      const auto over = over_algorithm(some, r);
      if (r.point.variant == "algorithm" || !over) return median_of(r) * 1e3;
      return noted{median_of(r) * 1e3, fmt::format("({:+.1f} %)", *over)};
    };
    e.add(table_of(
        {fmt::format("sync-{}", count),
         fmt::format("What sync() takes over the algorithm alone, on {}", counted(count, "GPU")),
         "sync 1, 2, 3: so many calls in the kernel's loop. Without looks: a long wait looks neither "
         "at the time nor for others that gave up. Without a verdict: threads that do not wait "
         "themselves are not told how the wait ended. Without a word: the kernel gives the library none "
         "of its shared memory."},
        fmt::format("ns on {}", counted(count, "GPU")), ".0f", some, form_of, shape_in_words, entry));
  }
}

// "-1.2 to +3.4 %" over the shapes.
template <class Value>
std::string span_of(const rows& some, std::string_view format, const Value& value) {
  std::vector<double> all;
  for (const auto* r : some)
    if (const auto one = value(*r)) all.push_back(*one);
  if (all.empty()) return "-";
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  return fmt::format(fmt::runtime(format), *low, *high);
}

void add_ranges(const rows& all, evaluation& e) {
  table t{
      {"sync-ranges",
       "From the least to the most over the shapes: over the algorithm alone, and what being "
       "safe costs of one call",
       "Looks: at the time and for others that gave up, in a long wait. Verdict: how the wait ended, told to "
       "the threads that do not wait themselves."},
      {"GPUs", "one call", "two and three", "looks", "verdict"}};
  for (const auto& [count, some] : by_members(all)) {
    const auto over = [&some = some](const result& r) { return over_algorithm(some, r); };
    const auto cost = [&some = some](std::string_view variant) {
      return span_of(where(some, is_variant("1")), "{:+.0f} to {:+.0f} ns",
                     [&](const result& r) -> std::optional<double> {
                       const auto* less =
                           first(some, is_variant(variant), is_key(shape_in_words, format_shape(r.point)));
                       if (less == nullptr) return std::nullopt;
                       return (median_of(r) - median_of(*less)) * 1e3;
                     });
    };
    const auto more = [](const result& r) { return r.point.variant == "2" || r.point.variant == "3"; };
    constexpr std::string_view in_percent = "{:+.1f} to {:+.1f} %";
    t.add({fmt::format("{}", count), span_of(where(some, is_variant("1")), in_percent, over),
           span_of(where(some, more), in_percent, over), cost("1-without-looks"),
           cost("1-without-a-verdict")});
  }
  e.add(std::move(t));
}

void add_sync_codes(const rows& all, evaluation& e) {
  for (const auto& [count, some] : by_members(all))
    e.add(table_of({fmt::format("sync-codes-{}", count),
                    fmt::format("One call of sync() in several builds, on {}", counted(count, "GPU")),
                    "Each line is a build of the library, by the name that its file gives it."},
                   fmt::format("% over the algorithm on {}", counted(count, "GPU")), "+.1f",
                   where(some, is_variant("1")), word("code"), shape_in_words,
                   [&some = some](const result& r) { return table_entry(over_algorithm(some, r)); }));
}

void add_steps(const rows& all, evaluation& e) {
  for (const auto& [count, some] : by_members(all))
    e.add(table_of(
        {fmt::format("stencil-{}", count),
         fmt::format("A step of the stencil on {}, us", counted(count, "GPU"))},
        "cells", ".4g", some, size_of, [](const result& r) { return r.point.variant; },
        [](const result& r) { return table_entry(median_of(r)); }));
}

void add_step_codes(const rows& all, evaluation& e) {
  for (const auto& [count, some] : by_members(all))
    e.add(table_of({fmt::format("stencil-codes-{}", count),
                    fmt::format("The stencil's step inside one kernel in several builds, on {}, us",
                                counted(count, "GPU")),
                    "Each line is a build of the library, by the name that its file gives it."},
                   "in-kernel barrier", ".4g", where(some, is_variant("in-kernel-barrier")), word("code"),
                   size_of, [](const result& r) { return table_entry(median_of(r)); }));
}

void add_fences(const rows& all, evaluation& e) {
  if (all.empty()) return;
  const auto waiting = [](const result& r) {
    const auto shape = format_shape(r.point);
    return shape.empty() ? std::string("nothing") : shape;
  };
  const auto codes = keys_of(all, word("code"));
  constexpr std::pair<const char*, const char*> values[] = {
      {"mean", "mean"}, {"p99", "99 % within"}, {"most", "longest"}};
  const bool named = std::ranges::any_of(codes, [](const auto& code) { return !code.empty(); });
  table t{{"fences", "A fence of system scope beside blocks that wait for a late GPU, cycles",
           named ? "Before each colon: the commit of mgsync that was measured." : ""},
          {"what waits"}};
  for (const auto& code : codes)
    for (const auto& [name, title] : values)
      t.columns.emplace_back(code.empty() ? title : code + ": " + title, ".0f");
  for (const auto& line : keys_of(all, waiting)) {
    std::vector<table_entry> row{line};
    for (const auto& code : codes) {
      const auto* r = first(all, is_key(waiting, line), has("code", code));
      for (const auto& [name, title] : values) row.push_back(r == nullptr ? nullptr : r->find(name));
    }
    t.add(row);
  }
  e.add(std::move(t));
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  const auto measured = is_measured_of("library");
  const auto of_a_build = [](const result& r) { return r.point.find("code") != nullptr; };
  const auto sync = where(all, measured, is_subject("sync")),
             steps = where(all, measured, is_subject("stencil"));
  const auto plain = std::not_fn(of_a_build);
  add_sync(where(sync, plain), e);
  add_ranges(where(sync, plain), e);
  add_sync_codes(where(sync, of_a_build), e);
  add_steps(where(steps, plain), e);
  add_step_codes(where(steps, of_a_build), e);
  add_fences(where(all, measured, is_subject("fence")), e);
  return e;
}

}  // namespace mgsync::library
