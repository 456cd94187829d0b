#include "src/studies/model/model_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/model/measured_crossing.hpp"

namespace mgsync::model {
namespace {

using size_curve = std::map<double, const result*>;  // by bytes in all

// Sums that form one curve have these in common.
struct series {
  bool gpu = false;
  int members = 1, ranks = 1;
  std::string type, memory, way,
      dealt;  // "": as the study does; "one" block, "all" blocks, the "first" member
  auto operator<=>(const series&) const = default;
};
using all_series = std::map<series, size_curve>;

std::string dealt_of(const std::string& variant) {
  for (const char* word : {"one", "all", "first"})
    if (variant == word || variant.ends_with(std::string(":") + word)) return word;
  return variant;
}

all_series series_of(std::span<const result> all) {
  all_series found;
  for (const auto& r : all) {
    const bool sums = r.point.find("type") != nullptr && r.point.find("memory") != nullptr &&
                      r.point.find("bytes") != nullptr;
    if (!sums || !r.has_metrics() || !r.verdict.passed) continue;
    const bool gpu = r.point.device == topology::device::gpu;
    const double parts = gpu ? r.point.members : 1;
    found[{gpu, r.point.members, r.point.ranks, r.point.word("type"), r.point.word("memory"), r.point.subject,
           dealt_of(r.point.variant)}][r.point.number("bytes").value_or(0) * parts] = &r;
  }
  return found;
}

// One side of a switch point: its sums, reading alone over sizes, and the cost of joining, measured at a size
// where there is next to nothing to read.
struct side {
  std::string name;
  const size_curve* sums = nullptr;
  const size_curve* reading = nullptr;
  std::optional<double> joining_us;
};

const size_curve* find(const all_series& all, series wanted, std::string way, std::string dealt = "") {
  wanted.way = std::move(way);
  wanted.dealt = std::move(dealt);
  const auto found = all.find(wanted);
  return found == all.end() ? nullptr : &found->second;
}

double us_of(const result& r) { return r.metrics.front().median; }

// The difference in us of two curves at their smallest size, where both have the same. It may be negative
// where the next sum begins early, which reading alone does not.
std::optional<double> at_the_smallest(const size_curve* with, const size_curve* without) {
  if (with == nullptr || without == nullptr || with->begin()->first != without->begin()->first)
    return std::nullopt;
  return us_of(*with->begin()->second) - us_of(*without->begin()->second);
}

// The predicted times in us at these sizes: reading plus joining; empty where a size was not measured.
std::vector<double> foretold(const side& s, const std::vector<double>& bytes) {
  std::vector<double> all;
  for (const double b : bytes) {
    if (s.reading == nullptr || !s.joining_us || !s.reading->contains(b)) return {};
    all.push_back(us_of(*s.reading->at(b)) + *s.joining_us);
  }
  return all;
}

// The paper's form: the throughput between the two largest sizes, and the latency at the smallest.
std::optional<configuration> paper_of(const side& s) {
  if (s.reading == nullptr || s.reading->size() < 2) return std::nullopt;
  const auto last = std::prev(s.reading->end()), before = std::prev(last);
  const double us = us_of(*last->second) - us_of(*before->second);
  const double latency = us_of(*s.reading->begin()->second);
  if (us <= 0 || latency <= 0) return std::nullopt;
  return configuration{s.name, (last->first - before->first) / us, latency};
}

struct wider_switch {
  side basic, more;
  std::string type, memory;
  bool said = false;  // by the study of reductions: from which size on the more members pay
};

// One block or all that are resident at once, on one GPU: in graphs, so that launch calls of the host do not
// count.
std::optional<wider_switch> block_to_grid(const all_series& all, const series& s) {
  if (!s.gpu || s.members != 1 || s.way != "auto-graph" || s.dealt != "one") return std::nullopt;
  const auto of = [&](const char* name, const char* dealt) {
    const auto *sums = find(all, s, "auto-graph", dealt), *reading = find(all, s, "read-graph", dealt);
    return side{name, sums, reading, at_the_smallest(sums, reading)};
  };
  const side block = of("1 block", "one"), grid = of("the grid", "all");
  return wider_switch{block, grid, s.type, s.memory};
}

std::optional<wider_switch> gpu_to_several(const all_series& all, const series& s) {
  if (!s.gpu || s.members < 2 || s.way != "single-kernel" || !s.dealt.empty()) return std::nullopt;
  auto alone = s;
  alone.members = alone.ranks = 1;
  const side one{"1 GPU", find(all, alone, "auto"), find(all, alone, "read"),
                 at_the_smallest(find(all, alone, "auto", "all"), find(all, alone, "read", "all"))};
  const side several{counted(s.members, "GPU") + (s.ranks > 1 ? ", a rank each" : ""),
                     find(all, s, "single-kernel"), find(all, s, "read"),
                     at_the_smallest(find(all, s, "single-kernel", "all"), find(all, s, "read", "all"))};
  return wider_switch{one, several, s.type, s.memory, s.ranks <= 1};
}

// One host thread or rank against several. For one, reading is what a single thread reads. Joining is
// measured by sums in which the first member has all the numbers.
std::optional<wider_switch> one_to_several(const all_series& all, const series& s) {
  if (s.gpu || s.members < 2 || s.way != "ours" || !s.dealt.empty()) return std::nullopt;
  auto alone = s;
  alone.members = alone.ranks = 1;
  const auto* read_alone = find(all, alone, "read");
  const char* what = s.ranks > 1 ? "rank" : "thread";
  const side one{counted(1, what), find(all, s, "serial"), read_alone, 0};
  const side several{counted(s.members, what), find(all, s, "ours"), find(all, s, "read"),
                     at_the_smallest(find(all, s, "ours", "first"), read_alone)};
  return wider_switch{one, several, s.type, s.memory};
}

table_entry size_of(std::optional<double> bytes) { return bytes ? size_in_words(*bytes) : "never"; }

void add(const wider_switch& w, table& t, expectations& all, evaluation& e) {
  if (w.basic.sums == nullptr || w.more.sums == nullptr) return;
  const auto bytes = common_sizes(*w.basic.sums, *w.more.sums);
  if (bytes.size() < 3) return;  // two sizes are no curve
  const auto measured = measured_between(*w.basic.sums, *w.more.sums);
  std::optional<double> paper, refined;
  const auto few = paper_of(w.basic), many = paper_of(w.more);
  if (few && many && w.basic.joining_us && w.more.joining_us)
    paper = where_they_meet(*few, *many, std::max(0.0, *w.more.joining_us - *w.basic.joining_us)).for_good;
  const auto basic = foretold(w.basic, bytes), more = foretold(w.more, bytes);
  if (!basic.empty() && !more.empty()) refined = foretold_crossing(bytes, basic, more);
  const auto between = w.basic.name + " -> " + w.more.name;
  const bool known = w.basic.joining_us && w.more.joining_us;
  const auto& at = measured.at;
  const bool refines = !basic.empty() && !more.empty();
  const auto range_of = [](const measured_crossing& m) {
    return m.low ? table_entry(size_in_words(*m.low) + " - " + size_in_words(*m.high)) : std::nullopt;
  };
  t.add({between, w.type, w.memory,
         known ? table_entry(*w.more.joining_us - *w.basic.joining_us) : std::nullopt, size_of(at.first),
         size_of(at.for_good), range_of(measured), known ? size_of(paper) : std::nullopt,
         ratio(paper, at.for_good), refines ? size_of(refined) : std::nullopt, ratio(refined, at.for_good)});
  const auto apart = ratio(refined, at.for_good);
  const auto sums = fmt::format("Sums of {}, {}", w.type, read_in_words(w.memory));
  if (w.said && apart)
    e.sentences.push_back(fmt::format("{}: the model foretold that {} are faster from {} in all on, {:.2f} "
                                      "times what was measured.",
                                      sums, w.more.name, size_in_words(*refined), *apart));
  if (!w.said && at.for_good)
    e.sentences.push_back(fmt::format(
        "{}: below {} use {}, above {}{}.", sums, size_in_words(*at.for_good), w.basic.name, w.more.name,
        apart ? fmt::format("; the model foretold {}, {:.2f} times that", size_in_words(*refined), *apart)
              : ""));
  if (apart)
    all.push_back({fmt::format("{}, {} {}: refined form over measured", between, w.type, w.memory),
                   "1/1.3 to 1.3", fmt::format("{:.2f}", *apart), *apart >= 1 / 1.3 && *apart <= 1.3});
}

}  // namespace

void add_wider_switches(std::span<const result> results, evaluation& e) {
  const auto all = series_of(results);
  table t{
      {"table-iv-wider", "From which size on more members pay",
       "Joining: what putting the parts together costs the more members beyond what it costs the fewer, in "
       "us, taken where there is next to nothing to read. For good: from there on more members are never "
       "slower. Paper's form: foretold by the model of paper 000. Refined: foretold from reading alone at "
       "each size, and joining. Ratio: foretold over "
       "measured."},
      {"between", "type", "memory", "joining | .2f", "first | >", "for good | >", "range | >",
       "paper's form | >", "ratio | .2f", "refined | >", "ratio | .2f"}};
  expectations held;
  for (const auto& [s, sizes] : all)
    for (const auto& make : {block_to_grid, gpu_to_several, one_to_several})
      if (const auto one = make(all, s)) add(*one, t, held, e);
  e.add(std::move(t));
  e.add({"wider-claims", "What the model must hold beyond one block"}, std::move(held));
}

}  // namespace mgsync::model
