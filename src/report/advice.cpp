#include "src/report/advice.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"
#include "src/results/frame/frame.hpp"

namespace mgsync::report {
namespace {

double transfer_us(const step& s, int members) {
  return members > 1 && s.gbps > 0 ? s.bytes / (s.gbps * 1e3) : 0;
}

std::string word_for(const step& s, int members) {
  return counted(members, s.device == topology::device::gpu ? "GPU" : "host member");
}

std::string names_of(const std::vector<std::string>& names, std::size_t most) {
  const std::span first(names.begin(), std::min(names.size(), most));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

// The command that measures these barriers on such members.
std::string command_for(const step& s, int ranks, const std::vector<std::string>& barriers) {
  const bool gpus = s.device == topology::device::gpu;
  const auto shape = s.shape ? fmt::format(" --shape {}{}", to_string(*s.shape), gpus ? "" : "x1") : "";
  return fmt::format("{}mgsync {} {}{} --backend {}", ranks > 1 ? fmt::format("mpirun -np {} ", ranks) : "",
                     gpus ? "--gpus" : "--device host --members", s.members, shape, fmt::join(barriers, ","));
}

// The results that the answer to such a step can be based on.
frame<result> usable_for(std::span<const result> all, const step& asked, facts_of_point facts_of) {
  return where(all, [&](const result& r) { return is_usable(r, asked, facts_of); });
}

// The same step over other numbers of members. A single member also needs a barrier where it has several
// blocks or threads.
void add_counts(advice& a, std::span<const result> all, facts_of_point facts_of) {
  std::set<int> counts{1, a.asked.members};
  for (const auto* r : usable_for(all, a.asked, facts_of)) counts.insert(r->point.members);
  const double work = a.asked.work_us * a.asked.members;
  for (const int n : counts) {
    auto on = a.asked;
    on.members = n;
    const bool meets_nobody = n == 1 && on.device == topology::device::host && on.shape == member_shape{};
    const auto there = meets_nobody ? std::vector<prediction>() : predict(all, on, facts_of);
    if (there.empty() && n > 1) continue;
    a.over_members.push_back({n, work / n + (there.empty() ? 0 : there.front().us) + transfer_us(a.asked, n),
                              there.empty() ? "none" : there.front().barrier});
  }
  a.best_members = least(a.over_members, &steps_on::step_us)->members;
}

// Each reason once, the most frequent first.
std::string reasons_of(const std::vector<refusal>& refused) {
  const auto of_reason = by(refused, &refusal::why);
  std::vector<std::string> reasons;
  for (const auto& [why, some] : of_reason) reasons.push_back(why);
  std::ranges::stable_sort(reasons, std::greater(),
                           [&](const auto& why) { return of_reason.at(why).size(); });
  if (constexpr std::size_t most = 3; reasons.size() > most) reasons.resize(most);
  return fmt::format("{}", fmt::join(reasons, "; "));
}

[[noreturn]] void refuse(const step& asked, std::span<const result> all, facts_of_point facts_of,
                         const std::vector<refusal>& refused) {
  if (refused.empty())
    throw usage_error(fmt::format("nothing is known of barriers of {}; {}", word_for(asked, asked.members),
                                  what_there_is(all, facts_of)));
  throw usage_error(fmt::format("none of the barriers in these results joins {}, shape {}: {}",
                                word_for(asked, asked.members), asked.shape ? to_string(*asked.shape) : "",
                                reasons_of(refused)));
}

std::string origin_of(const prediction& p, double work_us) {
  const auto beside = p.beside_us == 0 || p.beside_us == work_us
                          ? ""
                          : fmt::format(" beside {} us of work", in_digits(p.beside_us, 4));
  if (p.one_batch)
    return fmt::format("measured there{} in one batch, which has no interval: half and double", beside);
  if (p.measured) return "measured there" + beside;
  if (p.beyond_members && p.beyond_shape)
    return "a guess: nothing of so many members, nor of such a shape, was measured";
  if (p.beyond_members) return "a guess: nothing of so many members was measured";
  if (p.beyond_shape) return "a guess: its shape lies outside of those that were measured";
  return "from what was measured around it";
}

// The sentence with the answer and its call, or that a program can call none of the barriers.
void add_answer(advice& a) {
  const auto& best = a.barriers.front();
  const auto where = fmt::format("{}{}", word_for(a.asked, a.asked.members),
                                 a.asked.shape ? ", shape " + to_string(*a.asked.shape) : "");
  const auto figure = fmt::format("{:.4g} us ({:.4g} - {:.4g}, {}{})", best.us, best.low, best.high,
                                  origin_of(best, a.asked.work_us),
                                  best.doubts.empty() ? "" : "; means little: " + words_of(best.doubts));
  if (best.is_callable()) {
    a.sentences.push_back(fmt::format("For {}, take {}: {}.", where, best.barrier, figure));
    a.sentences.push_back(
        fmt::format("To call it: {}{}.", best.facts.call,
                    best.facts.needs.empty() ? "" : fmt::format(" ({})", best.facts.needs)));
  } else {
    a.sentences.push_back(fmt::format("For {}, these results have {}. The fastest is {}: {}.", where,
                                      best.facts.known
                                          ? "nothing that a program can call"
                                          : "nothing that this build of mgsync knows how to call",
                                      best.barrier, figure));
  }
  if (best.inside_nodes)
    a.sentences.emplace_back(
        "It meets over nodes: between them it orders execution, and of memory only what it carries itself.");
  if (best.beyond())
    a.sentences.push_back(
        fmt::format("Beyond what was measured the figure is that of the nearest, and the "
                    "interval how barriers have grown elsewhere; to know{}: {}.",
                    best.beyond_members && a.asked.members > 1
                        ? fmt::format(", where there are {} {}", a.asked.members,
                                      a.asked.device == topology::device::gpu ? "GPUs" : "cores")
                        : "",
                    command_for(a.asked, best.ranks, {best.barrier})));
}

// Sentences about barriers that seem faster than the answer, and why they are not the answer.
void add_faster(advice& a) {
  const auto& best = a.barriers.front();
  std::vector<std::string> uncallable, unknown, unsure, unsure_names, instead;
  const prediction* leader = best.is_callable() ? nullptr : &best;
  for (const auto& p : a.barriers) {
    if (&p == &best || p.us >= best.us) continue;
    if (p.is_callable()) {
      unsure.push_back(fmt::format("{} ({:.4g} us)", p.barrier, p.us)), unsure_names.push_back(p.barrier);
    } else if (p.guess_level() <= best.guess_level()) {
      (p.facts.known ? uncallable : unknown)
          .push_back(fmt::format("{} ({}{:.4g} us)", p.barrier, p.high < best.low ? "" : "perhaps, ", p.us));
      leader = leader != nullptr ? leader : &p;
    }
  }
  constexpr std::size_t most = 2;
  if (best.is_callable() && !uncallable.empty())
    a.sentences.push_back(fmt::format("Faster, but no program can call it: {}.", names_of(uncallable, most)));
  if (best.is_callable() && !unknown.empty())
    a.sentences.push_back(fmt::format(
        "Faster, and not known to this build of mgsync, which cannot tell whether a program can call it: {}.",
        names_of(unknown, most)));
  if (!unsure.empty()) {
    unsure_names.resize(std::min(unsure_names.size(), most));
    a.sentences.push_back(
        fmt::format("Perhaps faster, but not measured there, or in one batch only: {}; to know: {}.",
                    names_of(unsure, most), command_for(a.asked, best.ranks, unsure_names)));
  }
  if (leader == nullptr ||
      std::ranges::find(leader->facts.beside, best.barrier) != leader->facts.beside.end())
    return;
  for (const auto& name : leader->facts.beside)
    if (std::ranges::find(a.barriers, name, &prediction::barrier) == a.barriers.end())
      instead.push_back(name);
  if (!instead.empty())
    a.sentences.push_back(fmt::format(
        "{}, which a program can call in place of {}, {} not measured: {}.", fmt::join(instead, ", "),
        leader->barrier, instead.size() == 1 ? "was" : "were", command_for(a.asked, leader->ranks, instead)));
}

// A sentence: which barrier the work hides, as other warps do it or as it stands between two calls, where
// that was measured beside about as much: less than the answer takes there, which may be more than it takes
// without work.
void add_hiding(advice& a, std::span<const result> all, facts_of_point facts_of) {
  const auto& best = a.barriers.front();
  const auto beside = where(all, [&](const result& r) {
    const double work = r.point.number(axes::work).value_or(0);
    return work > 0 && std::abs(std::log(work / a.asked.work_us)) < std::log(1.5) &&
           is_idle_barrier(r, a.asked) && r.point.members == a.asked.members &&
           shape_of(r.point) == a.asked.shape && !r.metrics.front().of_one_batch();
  });
  const auto can_hide = [&](const result& r) {
    const auto facts = facts_of(r.point);
    return !facts.by_host && !facts.call.empty();
  };
  const auto* hides = least(where(beside, can_hide), median_of);
  const auto* own = first(beside, [&](const result& r) { return subject_of(r.point) == best.barrier; });
  const bool is_dearer = own != nullptr && own->metrics.front().ci95_low > best.high;
  if (hides == nullptr || hides == own ||
      !(hides->metrics.front().ci95_high < (is_dearer ? own->metrics.front().ci95_low : best.low)))
    return;
  a.sentences.push_back(fmt::format(
      "Where the work neither needs what the barrier hands over nor is handed over by it, {} hides the "
      "barrier but for {:.4g} us, beside {} us of work{}. To call it: {}.",
      subject_of(hides->point), median_of(*hides), in_digits(*hides->point.number(axes::work), 4),
      is_dearer ? fmt::format(", where {} takes {:.4g} us", best.barrier, median_of(*own)) : "",
      facts_of(hides->point).call));
}

// Sentences about the best barrier for other shapes; shapes with the same one share a sentence.
void add_other_shapes(advice& a, std::span<const result> all, facts_of_point facts_of,
                      const std::vector<std::string>& ties) {
  std::map<std::pair<std::string, bool>, std::vector<std::string>> winners;
  const auto shape_and_words = [](const result& r) {
    return std::pair(shape_of(r.point), format_shape(r.point));
  };
  for (const auto& [shape, words] : keys(usable_for(all, a.asked, facts_of), shape_and_words)) {
    auto other = a.asked;
    other.shape = shape;
    if (shape == a.asked.shape) continue;
    const auto there = predict(all, other, facts_of);
    if (there.empty() || !there.front().is_callable()) continue;
    const auto& name = there.front().barrier;
    if (name != a.barriers.front().barrier && std::ranges::find(ties, name) == ties.end())
      winners[{name, there.front().measured}].push_back(words);
  }
  for (const auto& [winner, shapes] : winners)
    a.sentences.push_back(fmt::format("With shape{} {} it would {}be {}.", shapes.size() == 1 ? "" : "s",
                                      names_of(shapes, 6), winner.second ? "" : "perhaps ", winner.first));
}

// A sentence: how much longer the answer takes beside the traffic that slows it down most, there or, where
// that was not measured, elsewhere.
void add_loaded(advice& a, std::span<const result> all) {
  const auto measured = where(all, &result::has_metrics, [&](const result& r) {
    return r.point.device == a.asked.device && r.point.members > 1 &&
           subject_of(r.point) == a.barriers.front().barrier;
  });
  const auto is_idle = [](const result& r) { return r.point.word(axes::load, "idle") == "idle"; };
  const auto is_there = [&](const auto& one) {
    const auto& p = one.first->point;
    return p.members == a.asked.members && (!a.asked.shape || shape_of(p) == a.asked.shape);
  };
  const auto place_of = [](const result& r) { return std::pair(r.point.members, format_shape(r.point)); };
  const auto pairs = join(where(measured, std::not_fn(is_idle)), where(measured, is_idle), place_of).both;
  const auto by_loaded = [](const auto& one) { return median_of(*one.first); };
  const auto* there = most(where(pairs, is_there), by_loaded);
  const auto* slowest = there != nullptr ? there : most(pairs, by_loaded);
  if (slowest == nullptr) return;
  const double loaded = median_of(*slowest->first), idle = median_of(*slowest->second);
  if (!(idle > 0 && loaded > idle)) return;
  const auto& load = slowest->first->point;
  const auto figure = fmt::format("up to {:.3g} times as long ({})", loaded / idle, load.word(axes::load));
  a.sentences.push_back(
      there != nullptr
          ? fmt::format("Beside traffic it takes longer: {}.", figure)
          : fmt::format("Beside traffic it was not measured there; on {}, shape {}, it takes {}.",
                        count_of_members(load), format_shape(load), figure));
}

// A sentence: which barriers of ranks do not count, as there is one process among the results.
void add_ranks(advice& a, std::span<const result> all, facts_of_point facts_of) {
  const auto there = where(usable_for(all, a.asked, facts_of), [&](const result& r) {
    return r.point.members == a.asked.members && (!a.asked.shape || shape_of(r.point) == a.asked.shape);
  });
  std::vector<std::string> left;
  for (const auto* r : where(there, [](const result& one) { return one.point.ranks > 1; }))
    if (const auto name = subject_of(r->point); std::ranges::find(left, name) == left.end())
      left.push_back(name);
  if (!left.empty() && a.barriers.front().ranks == 1)
    a.sentences.push_back(
        fmt::format("This is for one process: what was measured of several ranks ({}) does not "
                    "count; to know of those, name their files alone.",
                    names_of(left, 3)));
}

void add_changes(advice& a, std::span<const result> all, facts_of_point facts_of) {
  const auto& best = a.barriers.front();
  std::vector<std::string> ties;
  for (const auto& p : a.barriers)
    if (&p != &best && p.is_callable() == best.is_callable() && p.guess_level() == best.guess_level() &&
        p.low <= best.high && (p.measured || p.us < 1.5 * best.us))
      ties.push_back(p.barrier);
  if (!ties.empty()) a.sentences.push_back(fmt::format("No difference was shown to {}.", names_of(ties, 4)));
  if (a.in_kernel && a.by_host && a.in_kernel->guess_level() == a.by_host->guess_level()) {
    const double more = a.by_host->us - a.in_kernel->us;
    a.sentences.push_back(
        more > 0 ? fmt::format("Ending the kernel, or leaving it to the host, costs {:.3g} us at best ({}), "
                               "{:.3g} us more than {}: do it where it saves more than that in each step.",
                               a.by_host->us, a.by_host->barrier, more, a.in_kernel->barrier)
                 : fmt::format("The host's way is the cheaper one here: {} takes {:.3g} us, the best inside "
                               "a kernel {} {:.3g} us.",
                               a.by_host->barrier, a.by_host->us, a.in_kernel->barrier, a.in_kernel->us));
    if (a.asked.work_us > 0 && a.by_host->beside_us != a.asked.work_us)
      a.sentences.push_back(fmt::format(
          "That was measured {}; beside {} us of it the end of a kernel may take more or less. "
          "To know: {} --work {:.0f}us.",
          a.by_host->beside_us > 0 ? fmt::format("beside {} us of work", in_digits(a.by_host->beside_us, 4))
                                   : "without work between the kernels",
          in_digits(a.asked.work_us, 4), command_for(a.asked, a.by_host->ranks, {a.by_host->barrier}),
          a.asked.work_us));
  }
  a.sentences.push_back(fmt::format(
      "The barrier takes less than 10 % of a step from {} us of work on, less than 1 % from {} us.",
      in_digits(9 * best.us, 3), in_digits(99 * best.us, 3)));
  add_other_shapes(a, all, facts_of, ties);
  add_loaded(a, all);
  add_ranks(a, all, facts_of);
}

}  // namespace

std::string what_there_is(std::span<const result> all, facts_of_point facts_of) {
  const auto barriers = where(all, is_of(default_study));
  std::map<std::pair<topology::device, int>, std::string> there;
  std::set<double> works;
  for (const auto* r : barriers) {
    step same;
    same.device = r->point.device;
    same.work_us = r->point.number(axes::work).value_or(0);
    if (!is_usable(*r, same, facts_of)) continue;
    there.emplace(std::pair(r->point.device, r->point.members), count_of_members(r->point));
    works.insert(same.work_us);
  }
  const auto beside = works.contains(0)
                          ? ""
                          : fmt::format(" beside work, as in --work {}us", fmt::join(works, "us, --work "));
  std::vector<std::string> of;
  for (const auto& [members, text] : there) of.push_back(text);
  if (!there.empty()) return fmt::format("these results are of {}{}", fmt::join(of, ", "), beside);
  if (barriers.empty()) return "these results are of no barrier that was measured to its end";
  return fmt::format("of {} of barriers here none was measured to its end, idle, and passed its check",
                     counted(barriers.size(), "result"));
}

advice advise(std::span<const result> all, step asked, facts_of_point facts_of) {
  // For host members, the first number of a shape is the threads per member; there is no second one.
  if (asked.device == topology::device::host && asked.shape)
    *asked.shape = {asked.shape->blocks, false, std::nullopt};
  if (!asked.shape) asked.shape = smallest_shape(all, asked, facts_of);
  std::vector<refusal> refused;
  advice a{asked, predict(all, asked, facts_of, &refused), {}, {}, 0, 0, 0, {}, 1, {}};
  if (a.barriers.empty()) refuse(asked, all, facts_of, refused);
  for (const auto& p : a.barriers) {
    auto& kind = p.facts.by_host ? a.by_host : a.in_kernel;
    // Beside one that was measured, one that was not may be the fastest, and then nothing is told of them.
    if (p.is_callable() && (!kind || (p.us < kind->us && !p.beyond()))) kind = p;
  }
  const auto& best = a.barriers.front();
  const double rest = asked.work_us + transfer_us(asked, asked.members);
  a.share = best.us / (best.us + rest), a.share_low = best.low / (best.low + rest),
  a.share_high = best.high / (best.high + rest);
  add_counts(a, all, facts_of);
  add_answer(a);
  std::erase_if(refused, [](const refusal& one) { return one.by_host; });
  if (asked.device == topology::device::gpu && !a.in_kernel && !refused.empty())
    a.sentences.push_back(fmt::format("No barrier inside a kernel is for them: {}.", reasons_of(refused)));
  add_faster(a);
  if (asked.work_us > 0) add_hiding(a, all, facts_of);
  if (rest > 0)
    a.sentences.push_back(fmt::format("It takes {} % of a step of {} us of work ({} - {} %).",
                                      in_digits(100 * a.share, 2), in_digits(asked.work_us, 4),
                                      in_digits(100 * a.share_low, 2), in_digits(100 * a.share_high, 2)));
  if (asked.bytes > 0 && !(asked.gbps > 0))
    a.sentences.push_back("No file says how fast bytes move here, so they are not counted: add a machine "
                          "description (mgsync topology --format description).");
  if (asked.work_us > 0 && a.over_members.size() > 1) {
    std::vector<std::string> words;
    for (const auto& one : a.over_members)
      words.push_back(fmt::format("{}: {} us", one.members, in_digits(one.step_us, 4)));
    a.sentences.push_back(
        fmt::format("The same work spread over other numbers takes, a step on {}; {} {} best.",
                    fmt::join(words, ", "), a.best_members, a.best_members == 1 ? "is" : "are"));
  }
  add_changes(a, all, facts_of);
  return a;
}

}  // namespace mgsync::report
