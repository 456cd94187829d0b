#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync::barriers {
namespace {

// A step of the ladder: its level, its number of members (or threads, or blocks), and its name.
struct rung {
  int level = 0;
  int members = 0;
  std::string name;
  auto operator<=>(const rung&) const = default;
};

struct standing {
  const result* of = nullptr;
  double us = 0, low = 0, high = 0;
};

// The results on a step: for each maker the fastest that a program can call, and the fastest that it cannot.
struct stood {
  std::map<std::string, standing> callable;
  std::optional<standing> out_of_reach;
};

// The step of a result, by the scope and the driver of its barrier; level 0 where it is on no step, as for a
// barrier under load or with work.
rung rung_of(const result& r, const subject_facts& facts) {
  const auto& p = r.point;
  if (!r.facts || r.orders_less() || p.word("load", "idle") != "idle" || p.find("work") != nullptr ||
      p.find("late") != nullptr || facts.meets_nobody)
    return {};
  if (p.study == default_study && !r.verdict.passed) return {};
  if (p.device == topology::device::host)
    return {8, p.members, counted(p.members, "host member") + (p.ranks > 1 ? ", in ranks" : "")};
  const bool per_rank = p.ranks > 1;
  const int threads = static_cast<int>(p.number(axes::threads_per_block).value_or(32)),
            blocks = static_cast<int>(p.number(axes::blocks).value_or(1));
  const fact::scope scope = r.facts->scope;
  if (scope == fact::scope::converged_lanes) return {1, 1, "warp, lanes together"};
  if (scope == fact::scope::lanes) return {1, 2, "warp, lanes from two branches"};
  if (scope == fact::scope::block) return {2, threads, fmt::format("block, {} threads", threads)};
  if (scope == fact::scope::cluster) return {3, blocks, fmt::format("cluster, {} blocks", blocks)};
  if (r.facts->driver == fact::driver::kernel_boundary && scope == fact::scope::grid)
    return {6, 1, "launch: one more kernel"};
  if (r.facts->driver != fact::driver::device)
    return {7, p.members,
            fmt::format("end of the kernel, {}{}", counted(p.members, "GPU"), per_rank ? ", in ranks" : "")};
  // One block alone has no other block in its grid to wait for.
  if (p.members == 1) return {p.number(axes::blocks).value_or(2) > 1 ? 4 : 0, 1, "grid: 1 GPU"};
  return {5, p.members, fmt::format("{} GPUs{}", p.members, per_rank ? ", in ranks" : "")};
}

// The latency in us; nothing where the metric is no time, or is in cycles of an unknown clock.
std::optional<standing> standing_of(const result& r) {
  if (!r.has_metrics() || r.metrics.front().of_one_batch())
    return std::nullopt;  // one batch cannot be the fastest
  const auto& m = r.metrics.front();
  double factor = 0;
  if (m.unit == "us") factor = 1;
  if (m.unit == "ns") factor = 1e-3;
  if (const double mhz = r.number("clock").value_or(0); m.unit == "cycles" && mhz > 0) factor = 1 / mhz;
  if (factor == 0 || !(m.median > 0)) return std::nullopt;
  return standing{&r, m.median * factor, m.ci95_low * factor, m.ci95_high * factor};
}

// Whether a step is shown: of the sizes of a level only the smallest and the largest, or up to four for GPUs
// and host members.
bool is_shown(const std::map<rung, stood>& all, const rung& one) {
  if (one.level == 1 || one.level == 4 || one.level == 6) return true;
  std::set<int> counts;
  for (const auto& [other, value] : all)
    if (other.level == one.level) counts.insert(other.members);
  return one.members == *counts.begin() || one.members == *counts.rbegin() ||
         (one.level > 4 && counts.size() <= 4);
}

// Steps of the same kind are compared at the same shape: 1 for grids, GPUs and the ends of their kernels, 2
// for host members, 0 for the others.
int kind_of(const rung& one) {
  return one.level == 8 ? 2 : one.level == 4 || one.level == 5 || one.level == 7 ? 1 : 0;
}

using results_by_shape =
    std::map<std::pair<double, double>,
             std::vector<std::pair<const result*, subject_facts>>>;  // blocks per SM, threads

std::pair<double, double> size_of(const point& p) {
  return {p.number(axes::blocks_per_sm).value_or(0), p.number(axes::threads_per_block).value_or(0)};
}

// The shape, given by blocks per SM, that most steps of a kind have; of several such shapes the smallest.
std::pair<double, double> shared_shape(const std::map<rung, results_by_shape>& all, int kind) {
  std::map<std::pair<double, double>, int> counts;
  for (const auto& [where, shapes] : all)
    for (const auto& [shape, results] : shapes) counts[shape] += kind_of(where) == kind && shape.first > 0;
  const auto most = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? std::pair{0.0, 0.0} : most->first;
}

stood stood_of(const rung& where, const std::vector<std::pair<const result*, subject_facts>>& results) {
  stood found;
  for (const auto& [r, facts] : results) {
    const auto value = *standing_of(*r);
    // Instructions and launches, of other studies, can always be called.
    const bool callable = r->point.study != "barriers" || !facts.call.empty();
    if (!callable && (!found.out_of_reach || value.us < found.out_of_reach->us)) found.out_of_reach = value;
    if (!callable) continue;
    auto& best = found.callable[kind_of(where) == 0 ? "" : r->facts->maker];
    if (best.of == nullptr || value.us < best.us) best = value;
  }
  for (const auto& [maker, best] : found.callable)
    if (found.out_of_reach && best.us <= found.out_of_reach->us) found.out_of_reach.reset();
  return found;
}

bar bar_of(const std::string& name, const standing& value, int level, bool out_of_reach) {
  const auto shape = format_shape(value.of->point);
  const auto word = level == 6 ? value.of->point.subject : subject_of(value.of->point);
  return {name,
          {value.us},
          value.low,
          value.high,
          fmt::format("{}{}", word, shape.empty() || shape == "1" ? "" : " " + shape),
          out_of_reach,
          short_key(value.of->point),
          marked_subject_of(*value.of)};
}

std::map<rung, stood> ladder_of(std::span<const result> all) {
  std::map<rung, results_by_shape> measured;
  for (const auto& r : all) {
    const auto facts = r.point.study == default_study ? facts_of(r.point) : subject_facts{};
    const auto where = rung_of(r, facts);
    if (where.level != 0 && standing_of(r))
      measured[where][kind_of(where) == 0 ? std::pair{0.0, 0.0} : size_of(r.point)].emplace_back(&r, facts);
  }
  std::map<rung, stood> ladder;
  for (const auto& [where, shapes] : measured) {
    const auto shared = shapes.find(shared_shape(measured, kind_of(where)));
    ladder[where] = stood_of(where, shared != shapes.end() ? shared->second : shapes.begin()->second);
  }
  return ladder;
}

}  // namespace

void add_ladder(std::span<const result> all, evaluation& e) {
  const auto ladder = ladder_of(all);
  std::set<int> levels;
  for (const auto& [where, value] : ladder) levels.insert(where.level);
  if (levels.size() < 2) return;
  bar_chart bars{{"ladder", "The ladder: what it costs to synchronize at each level",
                  "What a program can call at each level, of each maker the fastest, idle; pale: what is "
                  "faster, and nothing that a program can call. "
                  "Time of one passage (001, figures 12 and 13)."},
                 {"latency (us), logarithmic", true},
                 {},
                 {}};
  for (const auto& [where, value] : ladder) {
    if (!is_shown(ladder, where)) continue;
    std::vector<std::pair<std::string, standing>> makers(value.callable.begin(), value.callable.end());
    std::ranges::stable_sort(makers, {}, [](const auto& one) { return one.second.us; });
    const bool alone = makers.size() + value.out_of_reach.has_value() == 1;
    for (const auto& [maker, best] : makers)
      bars.bars.push_back(
          bar_of(alone ? where.name : fmt::format("{}, {}", where.name, maker), best, where.level, false));
    if (value.out_of_reach)
      bars.bars.push_back(
          bar_of(alone ? where.name : where.name + ", no call", *value.out_of_reach, where.level, true));
  }
  e.figures.push_back(std::move(bars));
}

namespace {

using by_load = std::map<std::string, const result*>;

double us_of(const result* r) { return r->metrics.front().median; }

// A sentence: how load changes the barrier that is fastest without it, and which barrier it affects least.
std::string loaded_sentence(const std::map<std::string, by_load>& subjects) {
  const std::pair<const std::string, by_load>*idle = nullptr, *calmest = nullptr;
  const auto worst = [](const by_load& loads) {
    return std::ranges::max_element(loads, {}, [](const auto& one) { return us_of(one.second); })->second;
  };
  for (const auto& one : subjects) {
    if (!one.second.contains("idle") || !one.second.at("idle")->verdict.passed ||
        one.second.at("idle")->orders_less())
      continue;  // pieces of barriers, unchecked ones
    if (one.second.at("idle")->metrics.front().of_one_batch()) continue;
    if (idle == nullptr || us_of(one.second.at("idle")) < us_of(idle->second.at("idle"))) idle = &one;
    if (calmest == nullptr || us_of(worst(one.second)) < us_of(worst(calmest->second))) calmest = &one;
  }
  if (idle == nullptr) return "";
  const auto *alone = idle->second.at("idle"), *beside = worst(idle->second);
  if (!(us_of(beside) > 1.2 * us_of(alone))) return "";
  auto text =
      fmt::format("Beside traffic on {}, shape {}, {} takes up to {:.3g} us ({}) instead of {:.3g} us.",
                  count_of_members(alone->point), format_shape(alone->point), idle->first, us_of(beside),
                  beside->point.word(axes::load), us_of(alone));
  if (calmest != idle)
    text += fmt::format(" The least that any barrier takes there at worst is {:.3g} us ({}).",
                        us_of(worst(calmest->second)), calmest->first);
  return text;
}

}  // namespace

void add_loads(std::span<const result> all, evaluation& e) {
  // Members, shape -> subject -> load.
  std::map<std::pair<int, std::string>, std::map<std::string, by_load>> groups;
  std::map<std::pair<int, std::string>, std::vector<std::string>> loads;
  for (const auto& r : all) {
    if (r.point.study != default_study || r.point.device != topology::device::gpu || !r.has_metrics() ||
        !(r.metrics.front().median > 0))
      continue;
    if (r.point.find("work") != nullptr || r.point.find("late") != nullptr || r.point.ranks > 1) continue;
    const std::pair where{r.point.members, format_shape(r.point)};
    const auto load = r.point.word("load", "idle");
    auto& seen = loads[where];
    if (std::find(seen.begin(), seen.end(), load) == seen.end()) seen.push_back(load);
    groups[where][marked_subject_of(r)].emplace(load, &r);
  }
  for (auto& [where, subjects] : groups) {
    auto& columns = loads[where];
    if (columns.size() < 2) continue;
    std::stable_partition(columns.begin(), columns.end(), [](const auto& load) { return load == "idle"; });
    std::erase_if(subjects, [](const auto& one) { return one.second.size() < 2; });
    if (subjects.empty()) continue;
    heat_map map{
        {fmt::format("loads-{}-{}", where.first, where.second),
         fmt::format("Idle beside loaded: {}, shape {}", counted(where.first, "GPU"), where.second),
         "Latency in us, idle and beside traffic of each kind (docs/load.md); the colours are logarithmic."},
        "barrier",
        "beside",
        {},
        columns,
        {},
        "us",
        {},
        {}};
    if (const auto sentence = loaded_sentence(subjects); !sentence.empty()) e.sentences.push_back(sentence);
    for (const auto& [subject, loads_of_it] : subjects) {
      std::vector<const result*> line;
      for (const auto& load : columns) line.push_back(at(loads_of_it, load));
      map.add(subject, line);
    }
    e.figures.push_back(std::move(map));
  }
}

}  // namespace mgsync::barriers
