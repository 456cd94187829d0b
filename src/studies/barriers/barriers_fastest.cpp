#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync::barriers {

bool is_idle(const result& r) { return r.point.word(axes::load, "idle") == "idle"; }

bool can_be_drawn(const result& r) {
  return r.has_metrics() && median_of(r) > 0 &&
         (first_metric(r).of_one_batch() || first_metric(r).ci95_low > 0);
}

bool is_compared(const result& r) {
  return r.verdict.passed && !r.orders_less() && !first_metric(r).of_one_batch() &&
         first_metric(r).ci95_low > 0;
}

bool is_vendors(const result& r) {
  return r.facts && r.facts->origin == fact::origin::vendor && r.facts->driver == fact::driver::device;
}

bool is_callable(const result& r) {
  const auto facts = facts_of(r.point);
  return !facts.call.empty() && !facts.meets_nobody;
}

namespace {

// Of one device, number of members, shape and circumstances: the barriers that passed, the fastest of them,
// and the fastest that a program can call.
struct ranking {
  frame<result> all, callable;
  const result *best, *answer;  // answer: nullptr where a program can call none

  explicit ranking(const frame<result>& some)
      : all(some),
        callable(where(all, is_callable)),
        best(least(all, median_of)),
        answer(least(callable, median_of)) {}

  // The fastest barrier that is faster than the answer, and that a program cannot call; nullptr where there
  // is none.
  const result* out_of_reach() const {
    return least(where(all,
                       [&](const result& r) {
                         return median_of(r) < median_of(*answer) && !facts_of(r.point).meets_nobody;
                       }),
                 median_of);
  }
};

bool is_inside(const result& r) { return r.facts && !r.facts->joins_grids(); }

// The subjects to which no difference was shown.
std::vector<std::string> ties_of(const result& of, const frame<result>& among) {
  std::vector<std::string> names;
  for (const auto* r : among) {  // the same name may come twice, from two groups of this size
    const auto name = subject_of(r->point);
    if (name != subject_of(of.point) && !is_shown_less(of, *r) &&
        std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

// How a barrier could be measured that CUDA 13 removed; empty for others.
std::string how_it_was_measured(const result& vendors) {
  const auto algorithm = vendors.found("algorithm");
  const auto at = algorithm.find("launched by ");
  if (at == algorithm.npos) return "";
  return fmt::format("CUDA 13 no longer compiles {}, and its driver still runs it: these are kernels that an "
                     "older nvcc compiled (that of CUDA 11.8 or 12; docs/vendor-barrier.md), {}.",
                     algorithm.substr(0, algorithm.find(',')), algorithm.substr(at));
}

// Sentences: how many times as long NVIDIA's own barrier over the same blocks takes, as the range over the
// shapes, and what it pays for. Nothing where it was not measured, or is as fast.
struct vendors_price {
  std::string subject, times, per_block, measured;
  std::string sentence() const {
    return times.empty() ? "" : fmt::format(" NVIDIA's own ({}) takes {}{}", subject, times, per_block);
  }
  void add_to(told_in_parts& all) const {
    if (times.empty()) return;
    all.parts.emplace_back("NVIDIA's own", fmt::format("{} takes {}{}", subject, times, per_block));
    if (!measured.empty()) all.parts.emplace_back("measured how", measured);
  }
};
vendors_price beside_the_vendor(const std::vector<ranking>& shapes) {
  std::map<std::string, std::pair<frame<result>, frame<result>>>
      pairs;  // of a subject: it, and what is chosen
  for (const auto& one : shapes) {
    const auto* chosen = one.answer != nullptr ? one.answer : one.best;
    if (is_inside(*chosen)) continue;
    const auto same = chosen->point.members == 1 ? fact::scope::grid : fact::scope::node;
    for (const auto* r : one.all) {
      if (r == chosen || !is_vendors(*r) || r->facts->scope != same) continue;
      auto& [theirs, beside] = pairs[subject_of(r->point)];
      theirs.push_back(r), beside.push_back(chosen);
    }
  }
  if (pairs.empty()) return {};
  // The one that is there at most shapes, and of these the fastest at the first.
  const auto& [vendors, ours] = std::ranges::min_element(pairs, {}, [](const auto& of_subject) {
                                  const auto& rows = of_subject.second.first;
                                  return std::pair(-static_cast<int>(rows.size()), median_of(*rows.front()));
                                })->second;
  double least = 1e300, most = 0;
  for (std::size_t i = 0; i < vendors.size(); ++i) {
    const double ratio = median_of(*vendors[i]) / median_of(*ours[i]);
    least = std::min(least, ratio), most = std::max(most, ratio);
  }
  if (!(most > 1.05)) return {};
  const auto times =
      most < 1.05 * least ? fmt::format("{:.2g}", most) : fmt::format("{:.2g} to {:.2g}", least, most);
  return {subject_of(vendors.back()->point), times + " times as long.", price_per_block(vendors, ours),
          how_it_was_measured(*vendors.back())};
}

// Names barriers that a program can call instead of one that it cannot, where these were not measured.
std::string in_its_place(const ranking& here, const result& of) {
  std::vector<std::string> names = facts_of(of.point).beside;
  std::erase_if(names, [&](const auto& name) {
    return std::ranges::any_of(here.all, [&](const auto* r) { return subject_of(r->point) == name; });
  });
  if (names.empty() || (here.answer != nullptr && here.answer->point.subject == of.point.subject)) return "";
  return fmt::format("; {}, which it can call in its place, {} not measured", fmt::join(names, ", "),
                     names.size() == 1 ? "was" : "were");
}

// How the barrier is called.
std::string how_to_call(const ranking& one) {
  const auto facts = facts_of(one.answer->point);
  return fmt::format("{}{}.", facts.call, facts.needs.empty() ? "" : fmt::format(" ({})", facts.needs));
}

// Which faster barrier cannot be called; empty where there is none.
std::string faster_without_call(const ranking& one) {
  const auto* beyond = one.out_of_reach();
  if (beyond == nullptr) return "";
  const bool known = facts_of(beyond->point).known,
             is_peers = beyond->facts && beyond->facts->origin == fact::origin::peer;
  const bool is_faster = is_shown_less(*beyond, *one.answer);
  return fmt::format("{}{} {} there, {:.4g} us, but {}{}.",
                     is_peers ? "mgsync's form of "
                     : known  ? "mgsync's own "
                              : "",
                     subject_of(beyond->point), is_faster ? "is faster" : "may be faster", median_of(*beyond),
                     known ? "only mgsync itself can use it"
                           : "this build does not know whether a program can call it",
                     in_its_place(one, *beyond));
}

// Of the shapes of a group what a sentence tells of: which barrier is best at how many, one that joins whole
// members rather than the threads of a block or a cluster, and the first shape where it is; one that fills
// all SMs, if it is best at any.
struct told_shapes {
  bool callable = false;               // of what a program can call
  std::vector<std::string> elsewhere;  // "multigrid:library-split at 1x32": where another one is best
  std::pair<std::string, int> most;
  const ranking* shown = nullptr;
  const result* chosen(const ranking& one) const { return callable ? one.answer : one.best; }
};
told_shapes told_of(const std::vector<ranking>& shapes) {
  told_shapes told;
  told.callable = std::ranges::any_of(shapes, [](const ranking& one) { return one.answer != nullptr; });
  std::map<std::string, int> wins, wins_inside;
  for (const auto& one : shapes)
    if (const auto* r = told.chosen(one); r != nullptr)
      ++(is_inside(*r) ? wins_inside : wins)[subject_of(r->point)];
  told.most = *std::ranges::max_element(wins.empty() ? wins_inside : wins, {},
                                        [](const auto& one) { return one.second; });
  for (const auto& one : shapes) {
    const auto* r = told.chosen(one);
    if (r == nullptr || subject_of(r->point) != told.most.first) continue;
    if (told.shown == nullptr) told.shown = &one;
    if (r->point.number(axes::blocks)) continue;
    told.shown = &one;
    break;
  }
  std::map<std::pair<bool, std::string>, std::vector<std::string>> others;  // what is inside comes last
  for (const auto& one : shapes)
    if (const auto* r = told.chosen(one); r != nullptr && subject_of(r->point) != told.most.first)
      others[{is_inside(*r), subject_of(r->point)}].push_back(format_shape(r->point));
  for (const auto& [name, at] : others)
    told.elsewhere.push_back(fmt::format("{} at {}", name.second, fmt::join(at, ", ")));
  if (constexpr std::size_t most = 3; told.elsewhere.size() > most)
    told.elsewhere.resize(most), told.elsewhere.back() += " and others";
  return told;
}

// A sentence about a group of a device and circumstances: which barrier is best at how many of its shapes;
// and the same in parts. `usual`: the one that is best without these circumstances.
told_in_parts best_of(const std::vector<ranking>& shapes, const told_shapes& told,
                      const std::string& usual = "") {
  const auto& [callable, elsewhere, most, shown] = told;
  const auto& r = *told.chosen(*shown);
  const auto& m = first_metric(r);
  const auto under = circumstances_of(r.point), shape = format_shape(r.point);
  const auto ties = ties_of(r, callable ? shown->callable : shown->all);
  const auto is_usual = [&](const auto* one) { return subject_of(one->point) == usual; };
  const bool without_usual =
      !under.empty() && !usual.empty() && r.point.ranks <= 1 && std::ranges::none_of(shown->all, is_usual);
  const bool several = shapes.size() > 1, advised = callable && r.doubts.empty() && !without_usual;
  const auto group =
      fmt::format("On {}{}", count_of_members(r.point), under.empty() ? "" : " (" + under + ")");
  const auto at_most = several ? fmt::format(" at {} of {} shapes", most.second, shapes.size()) : "";
  const auto us = fmt::format("{:.4g} us{}{}", m.median,
                              r.point.find(axes::work) == nullptr ? "" : " that its work does not hide",
                              several ? " at " + shape : "");
  const auto few = few_batches_of(r);
  const auto interval = fmt::format("{} {:.4g} - {:.4g}", few.empty() ? "95 % interval" : "range of " + few,
                                    m.ci95_low, m.ci95_high);
  std::string unsure;
  if (!ties.empty())
    unsure += fmt::format("; {}no difference was shown to {}", several ? "at " + shape + " " : "",
                          fmt::join(ties, ", "));
  if (!elsewhere.empty()) unsure += fmt::format("; elsewhere it is {}", fmt::join(elsewhere, "; "));
  if (without_usual) unsure += fmt::format("; {}, the fastest otherwise, was not measured so", usual);
  if (!r.doubts.empty()) unsure += fmt::format("; that means little: {}", words_of(r.doubts));
  const auto which = !callable ? fmt::format("nothing that a program can call was measured in more than one "
                                             "batch; {} is the fastest barrier",
                                             most.first)
                     : advised
                         ? fmt::format("take {}, the fastest barrier that a program can call", most.first)
                         : fmt::format("{} is the fastest barrier that a program can call{}", most.first,
                                       without_usual ? " of those that were measured so" : "");
  const auto price = beside_the_vendor(shapes);
  const auto call = callable ? how_to_call(*shown) : "", beyond = callable ? faster_without_call(*shown) : "";
  told_in_parts all{{fmt::format("{}, {}{}: {} ({}){}{}{}{}", group, which, at_most, us, interval, unsure,
                                 callable ? ". To call it: " + call : in_its_place(*shown, r) + ".",
                                 beyond.empty() ? "" : " " + beyond, price.sentence())},
                    fmt::format("{}, {}: {}.", group, advised ? "take " + most.first : which, us)};
  all.parts.emplace_back(
      "how sure", fmt::format("{} us{}{}.", interval,
                              several ? fmt::format("; it is the fastest{}{}",
                                                    callable ? " that a program can call" : "", at_most)
                                      : "",
                              unsure));
  if (const auto others = beside_other_makers(shown->all); !others.empty())
    all.parts.emplace_back("runners-up", fmt::format("It is {}.", others));
  if (!call.empty()) all.parts.emplace_back("to call it", call);
  if (!beyond.empty()) all.parts.emplace_back("faster, no call", beyond);
  price.add_to(all);
  return all;
}

}  // namespace

void add_fastest(std::span<const result> all, evaluation& e) {
  const auto points = where(all, is_of(default_study));
  const auto measured = where(points, &result::has_metrics);
  if (measured.empty()) return;
  const auto compared = where(measured, is_idle, is_compared);
  const auto group_of = [](const result& r) {
    return std::tuple(std::string(to_string(r.point.device)), r.point.number(axes::work).value_or(0),
                      circumstances_of(r.point), r.point.members, place_of_shape(r.point));
  };
  // By device, work (in us, so that 5 comes before 20) and circumstances in words.
  using groups = std::map<std::tuple<std::string, double, std::string>, std::vector<ranking>>;
  groups largest, alone;
  table t{{"fastest", "The fastest barrier of each group and shape",
           "Of those that passed their check, idle, in more than one batch, the fastest that a program can "
           "call; where it can call none, the fastest (no call). No difference shown to: whose interval "
           "overlaps, of another file with 4 % more, by which processes differ. Behind it what is faster and "
           "cannot be called, in us."},
          {"members", "shape", "barrier", "latency, us | .4g", "ci95 | .4g", "no difference shown to",
           "faster, but no call"}};
  for (const auto& [key, some] : by(compared, group_of)) {
    const auto& [device, work, under, members, place] = key;
    auto& shapes = largest[{device, work, under}];
    if (!shapes.empty() && shapes.front().best->point.members < members) shapes.clear();
    const auto& one = shapes.emplace_back(some);
    if (members == 1 && device == "gpu" && under.empty()) alone[{device, work, under}].push_back(one);
    const bool callable = one.answer != nullptr;
    const auto& first = callable ? *one.answer : *one.best;
    const auto* beyond = callable ? one.out_of_reach() : nullptr;
    t.add({count_of_members(first.point) + (under.empty() ? "" : ", " + under), format_shape(first.point),
           marked_subject_of(first) + (callable ? "" : " (no call)"), median_of(first),
           ci95_of(first_metric(first)),
           fmt::format("{}", fmt::join(ties_of(first, callable ? one.callable : one.all), ", ")),
           beyond == nullptr ? ""
                             : fmt::format("{}{} {:.4g}", is_shown_less(*beyond, first) ? "" : "perhaps ",
                                           subject_of(beyond->point), median_of(*beyond))},
          short_key(first.point));
  }
  for (const auto& [group, shapes] : largest) {
    const auto told = told_of(shapes);
    // The line at the top and the advice are one thing in parts.
    std::vector<std::string> line{headline(told.shown->all)};
    std::erase(line, "");
    e.sentences.insert(e.sentences.end(), line.begin(), line.end());
    const auto add = [&](told_in_parts one) {
      e.sentences.push_back(one.sentences.back());
      e.in_parts.push_back(std::move(one));
    };
    const auto* ordinary = at(largest, {std::get<0>(group), 0, ""});
    auto best = best_of(shapes, told, ordinary == nullptr ? "" : told_of(*ordinary).most.first);
    best.sentences.insert(best.sentences.begin(), line.begin(), line.end());
    add(std::move(best));
    const auto* one_gpu = at(alone, group);
    if (one_gpu != nullptr && shapes.front().best->point.members > 1)
      add(best_of(*one_gpu, told_of(*one_gpu)));
  }
  const auto ended = [&](result_status how) {
    return where(points, [how](const result& r) { return r.status == how; }).size();
  };
  const auto violated = ended(result_status::failed), given_up = ended(result_status::error),
             waived = ended(result_status::waived);
  const auto unchecked = where(measured, [](const result& r) {
                           return !r.verdict.passed && r.status == result_status::measured;
                         }).size();
  e.sentences.push_back(
      fmt::format("{} of barriers {} measured{}; {} {} violated or stuck{}{}.",
                  counted(measured.size(), "point"), measured.size() == 1 ? "was" : "were",
                  unchecked == 0 ? "" : fmt::format(", {} of them unchecked or no barriers", unchecked),
                  violated == 0 ? "none" : fmt::format("{}", violated), violated <= 1 ? "was" : "were",
                  waived == 0 ? "" : fmt::format("; {} more could not run here", waived),
                  given_up == 0 ? "" : fmt::format("; {} more ended in an error", given_up)));
  e.add(std::move(t));
}

}  // namespace mgsync::barriers
