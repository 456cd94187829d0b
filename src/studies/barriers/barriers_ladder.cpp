#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
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

// A result on a step: its time of one passage, and what it is compared by.
struct standing {
  const result* of = nullptr;
  barriers::rung rung;
  std::string maker;
  bool callable = false;
  std::pair<double, double> shape;  // blocks per SM, threads per block
  double us = 0, low = 0, high = 0;
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

// Steps of the same kind are compared at the same shape: 1 for grids, GPUs and the ends of their kernels, 2
// for host members, 0, where shapes do not count, for the others.
int kind_of(const rung& one) {
  return one.level == 8 ? 2 : one.level == 4 || one.level == 5 || one.level == 7 ? 1 : 0;
}

// The factor by which a metric is in us; 0 where it is no time, or is in cycles of an unknown clock.
double to_us(const result& r) {
  const auto& unit = first_metric(r).unit;
  const double mhz = r.number("clock").value_or(0);
  return unit == "us" ? 1 : unit == "ns" ? 1e-3 : unit == "cycles" && mhz > 0 ? 1 / mhz : 0;
}

std::vector<standing> standings_of(std::span<const result> all) {
  std::vector<standing> found;
  // One batch cannot be the fastest.
  for (const auto* r : where(all, &result::has_metrics, [](const result& one) {
         return !first_metric(one).of_one_batch() && median_of(one) * to_us(one) > 0;
       })) {
    const auto facts = r->point.study == default_study ? facts_of(r->point) : subject_facts{};
    const auto on = rung_of(*r, facts);
    if (on.level == 0) continue;
    const bool any_shape = kind_of(on) == 0;
    // Instructions and launches, of other studies, can always be called.
    const bool callable = r->point.study != default_study || !facts.call.empty();
    const auto size = number(axes::blocks_per_sm), threads = number(axes::threads_per_block);
    const auto& m = first_metric(*r);
    const double factor = to_us(*r);
    found.push_back({r, on, any_shape ? "" : r->facts->maker, callable,
                     any_shape ? std::pair{0.0, 0.0} : std::pair{size(*r), threads(*r)}, m.median * factor,
                     m.ci95_low * factor, m.ci95_high * factor});
  }
  return found;
}

using steps = std::map<rung, frame<standing>>;

// What stands on each step, at the shape, given by blocks per SM, that most steps of its kind have (of
// several such shapes the smallest), or else at the step's smallest.
steps steps_of(const std::vector<standing>& all) {
  steps found;
  for (const auto& [kind, some] : by(all, [](const standing& one) { return kind_of(one.rung); })) {
    const auto shapes = by(some, &standing::shape);
    const auto* shared = most(shapes, [](const auto& one) {
      return one.first.first > 0 ? by(one.second, &standing::rung).size() : 0;
    });
    for (const auto& [rung, here] : by(some, &standing::rung)) {
      const auto of_shape = by(here, &standing::shape);
      const auto* same = at(of_shape, shared->first);
      found[rung] = same != nullptr ? *same : of_shape.begin()->second;
    }
  }
  return found;
}

// Whether a step is shown: of the sizes of a level only the smallest and the largest, or up to four for GPUs
// and host members.
bool is_shown(const steps& all, const rung& one) {
  if (one.level == 1 || one.level == 4 || one.level == 6) return true;
  std::set<int> counts;
  for (const auto& [other, here] : all)
    if (other.level == one.level) counts.insert(other.members);
  return one.members == *counts.begin() || one.members == *counts.rbegin() ||
         (one.level > 4 && counts.size() <= 4);
}

bar bar_of(const std::string& name, const standing& one) {
  const auto& p = one.of->point;
  const auto shape = format_shape(p);
  return {.name = name,
          .parts = {one.us},
          .low = one.low,
          .high = one.high,
          .note = (one.rung.level == 6 ? p.subject : subject_of(p)) +
                  (shape.empty() || shape == "1" ? "" : " " + shape),
          .reference = !one.callable,
          .source = short_key(p),
          .subject = marked_subject_of(*one.of),
          .marks = {.hollow = !one.callable}};
}

// The bars of a step: of each maker the fastest that a program can call, and what is faster than all of
// them and cannot be called.
std::vector<bar> bars_of(const rung& step, const frame<standing>& here) {
  frame<standing> shown;
  for (const auto& [maker, best] :
       least_by(where(here, &standing::callable), &standing::maker, &standing::us))
    shown.push_back(best);
  std::ranges::stable_sort(shown, {}, &standing::us);
  const auto* beyond = least(where(here, std::not_fn(&standing::callable)), &standing::us);
  if (beyond != nullptr && (shown.empty() || beyond->us < shown.front()->us)) shown.push_back(beyond);
  std::vector<bar> bars;
  for (const auto* one : shown)
    bars.push_back(bar_of(shown.size() == 1
                              ? step.name
                              : fmt::format("{}, {}", step.name, one->callable ? one->maker : "no call"),
                          *one));
  return bars;
}

}  // namespace

void add_ladder(std::span<const result> all, evaluation& e) {
  const auto standings = standings_of(all);
  const auto ladder = steps_of(standings);
  if (ladder.empty() || ladder.begin()->first.level == ladder.rbegin()->first.level) return;
  bar_chart chart{
      {"ladder", "The ladder: what it costs to synchronize at each level",
       "What a program can call at each level, of each maker the fastest, idle; and as an outline "
       "what is faster, but can be used by mgsync itself only. "
       "Time of one passage (001, figures 12 and 13)."},
      {"latency (us), logarithmic", true},
      {},
      {}};
  for (const auto& [step, here] : ladder)
    if (is_shown(ladder, step)) std::ranges::move(bars_of(step, here), std::back_inserter(chart.bars));
  if (std::ranges::any_of(chart.bars, [](const bar& one) { return one.marks.hollow; }))
    chart.legend = {{{}, "a program can call it"}, {{.hollow = true}, "no call: mgsync's own use only"}};
  e.figures.push_back(std::move(chart));
}

namespace {

using by_load = std::map<std::string, const result*>;

std::string load_of(const result& r) { return r.point.word(axes::load, "idle"); }

// Why a barrier takes longer beside a load, and what a program can do about it (docs/load.md); empty: not
// known.
struct load_cause {
  std::string_view why, what_to_do;
};
// What blocks of a kind of load do, and what that means for a barrier on their SMs, and on others.
struct load_kind {
  std::string_view name, words;
  load_cause on_its_sms, on_others;
};
constexpr load_cause of_host_reads{
    "a barrier's system fence waits until all reads of host memory by its GPU's SMs have returned",
    "poll no word of host memory from a kernel, but one in the GPU's own memory that the host writes "
    "(cudaMemcpyAsync in another stream)"};
constexpr load_cause behind_its_sm{
    "the stores, flags and fences of an SM queue behind what that SM itself has sent",
    "keep the barrier off SMs that store, or few stores in flight"};
constexpr load_cause of_peer_loads{
    "what a barrier sends waits in line with these reads, and its fences until it has arrived",
    "let GPUs meet before or after such reads, not beside them"};
constexpr load_kind load_kinds[] = {
    {"peer-stores",
     "blocks store to other GPUs",
     behind_its_sm,
     {"a barrier's system fence waits until what its GPU has sent to others has arrived",
      "keep few stores in flight: a quarter of the threads may move as much"}},
    {"peer-loads", "blocks read other GPUs' memory", of_peer_loads, of_peer_loads},
    {"local-stores", "blocks store to the GPU's own memory", behind_its_sm, {}},
    {"local-loads", "blocks read the GPU's own memory", {}, {}},
    {"host-reads", "blocks poll a word of host memory", of_host_reads, of_host_reads}};

const load_kind* kind_of_load(const std::string& load) {
  return first(load_kinds, [&](const load_kind& one) { return load.starts_with(one.name); });
}

// "while blocks poll a word of host memory (host-reads:x32@all)".
std::string while_loaded(const result& r) {
  const auto load = load_of(r);
  const auto* kind = kind_of_load(load);
  return kind == nullptr ? fmt::format("beside {}", load) : fmt::format("while {} ({})", kind->words, load);
}

// " Why: ... What to do: ...", once for each cause.
std::string why_and_what_to_do(const result& beside, std::set<std::string_view>& told) {
  const auto load = load_of(beside);
  const auto* kind = kind_of_load(load);
  if (kind == nullptr) return "";
  const auto& cause = load.ends_with("@others") ? kind->on_others : kind->on_its_sms;
  if (cause.why.empty() || !told.insert(cause.why).second) return "";
  return fmt::format(" Why: {}. What to do: {} (docs/load.md).", cause.why, cause.what_to_do);
}

const result& at_worst(const by_load& loads) {
  return *most(loads, [](const auto& one) { return median_of(*one.second); })->second;
}

// A sentence: how load changes the barrier that is fastest without it, and which barrier it affects least; of
// those that a program can call, if there are any. `told`: the causes that were said already.
std::string loaded_sentence(const std::map<std::string, by_load>& subjects,
                            std::set<std::string_view>& told) {
  // No pieces of barriers, and no unchecked ones.
  auto barriers = where(subjects, [](const auto& one) {
    const auto* idle = at(one.second, "idle");
    return idle != nullptr && idle->verdict.passed && !idle->orders_less() &&
           !first_metric(*idle).of_one_batch();
  });
  const auto callable = where(barriers, [](const auto& one) { return is_callable(*one.second.at("idle")); });
  if (!callable.empty()) barriers = callable;
  const auto* fastest = least(barriers, [](const auto& one) { return median_of(*one.second.at("idle")); });
  const auto* calmest = least(barriers, [](const auto& one) { return median_of(at_worst(one.second)); });
  if (fastest == nullptr) return "";
  const auto &alone = *fastest->second.at("idle"), &beside = at_worst(fastest->second);
  if (!(median_of(beside) > 1.2 * median_of(alone))) return "";
  auto text =
      fmt::format("Beside traffic on {}, shape {}, {} takes up to {:.3g} us, {}, instead of {:.3g} us.",
                  count_of_members(alone.point), format_shape(alone.point), fastest->first, median_of(beside),
                  while_loaded(beside), median_of(alone));
  if (is_shown_less(at_worst(calmest->second), beside))
    text += fmt::format(" {1} takes least beside the worst, {0:.3g} us.",
                        median_of(at_worst(calmest->second)), calmest->first);
  return text + why_and_what_to_do(beside, told);
}

}  // namespace

void add_loads(std::span<const result> all, evaluation& e) {
  const auto measured = where(all, is_measured_of(default_study), [](const result& r) {
    return r.point.device == topology::device::gpu && can_be_drawn(r) &&
           r.point.find(axes::work) == nullptr && r.point.find(axes::late) == nullptr && r.point.ranks <= 1;
  });
  const auto group_of = [](const result& r) { return std::pair(r.point.members, format_shape(r.point)); };
  std::set<std::string_view> told;
  for (const auto& [group, here] : by(measured, group_of)) {
    const auto& [members, shape] = group;
    auto loads = keys(here, load_of);
    if (loads.size() < 2) continue;
    std::stable_partition(loads.begin(), loads.end(), [](const auto& load) { return load == "idle"; });
    auto subjects = pivot(here, marked_subject_of, load_of);
    std::erase_if(subjects, [](const auto& one) { return one.second.size() < 2; });
    if (subjects.empty()) continue;
    if (auto sentence = loaded_sentence(subjects, told); !sentence.empty())
      e.sentences.push_back(std::move(sentence));
    heat_map map{
        .heading = {fmt::format("loads-{}-{}", members, shape),
                    fmt::format("Idle beside loaded: {}, shape {}", counted(members, "GPU"), shape),
                    "Latency in us, idle and beside traffic of each kind, from dark, the least, to yellow "
                    "on a logarithmic scale; -: not measured. 4x512: 4 blocks of 512 threads on each GPU "
                    "make the traffic; x512: one on every SM, with @others only on SMs that the barrier "
                    "does not use. host-reads: all read one word of host memory again and again."},
        .row_label = "barrier",
        .column_label = "beside",
        .columns = loads,
        .unit = "us",
        .in_order = false};
    for (const auto& [subject, of_it] : subjects) {
      std::vector<const result*> line;
      for (const auto& load : loads) line.push_back(at(of_it, load));
      map.add(subject, line);
    }
    e.figures.push_back(std::move(map));
  }
}

}  // namespace mgsync::barriers
