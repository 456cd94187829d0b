// Why a barrier takes what it takes: what NVIDIA's own pays for, what a late member costs, registers that do
// not suffice; and what the barriers of other projects are here for.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/backend.hpp"
#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync::barriers {
namespace {

double blocks_of(const result& r) { return r.point.number(axes::blocks_per_sm).value_or(0); }
double threads_of(const result& r) {
  return blocks_of(r) * r.point.number(axes::threads_per_block).value_or(0);
}

}  // namespace

std::string price_per_block(const frame<result>& over_shapes, const frame<result>& beside) {
  const auto filling = where(over_shapes, [](const result& r) { return blocks_of(r) > 0; });
  const auto* slowest = most(filling, median_of);
  if (slowest == nullptr) return "";
  // As many threads on an SM, in the fewest blocks.
  const auto* fewest =
      least(where(filling,
                  [&](const result& r) {
                    return threads_of(r) == threads_of(*slowest) && blocks_of(r) < blocks_of(*slowest);
                  }),
            blocks_of);
  constexpr double grows = 1.5;
  if (fewest == nullptr || median_of(*slowest) < grows * median_of(*fewest) ||
      !is_shown_less(*fewest, *slowest))
    return "";
  auto text = fmt::format(
      " It pays for each block: with as many threads on an SM, {} takes {:.3g} us and {} {:.3g} us, {:.2g} "
      "us "
      "for each further block on an SM",
      format_shape(fewest->point), median_of(*fewest), format_shape(slowest->point), median_of(*slowest),
      (median_of(*slowest) - median_of(*fewest)) / (blocks_of(*slowest) - blocks_of(*fewest)));
  const auto at_shape_of = [&](const result& other) {
    return first(beside, [&](const result& r) { return format_shape(r.point) == format_shape(other.point); });
  };
  const auto *from = at_shape_of(*fewest), *to = at_shape_of(*slowest);
  if (from != nullptr && to != nullptr && subject_of(from->point) == subject_of(to->point))
    text += fmt::format("; {} takes {:.3g} and {:.3g} us there", subject_of(to->point), median_of(*from),
                        median_of(*to));
  return text + ".";
}

namespace {

double late_of(const result& r) { return r.point.number(axes::late).value_or(0); }

// The same point, with nobody late.
const result* in_time(const result& late, const frame<result>& all) {
  auto same = late.point;
  same.remove(axes::late);
  const auto key = std::pair(circumstances_of(same), format_shape(same));
  return first(all, [&](const result& r) {
    return late_of(r) == 0 && subject_of(r.point) == subject_of(same) && r.point.device == same.device &&
           r.point.members == same.members &&
           std::pair(circumstances_of(r.point), format_shape(r.point)) == key;
  });
}

}  // namespace

void add_late(std::span<const result> all, evaluation& e) {
  const auto measured = where(all, is_measured_of(default_study), is_idle, can_be_drawn, [](const result& r) {
    return r.verdict.passed && !r.orders_less() && r.point.members > 1;
  });
  const auto late = where(measured, is_callable, [](const result& r) { return late_of(r) > 0; });
  for (const auto& [device, here] : by(late, [](const result& r) { return r.point.device; })) {
    // The largest group, the latest member, the smallest shape that fills all SMs; there the fastest barrier.
    const auto place = [](const result& r) {
      return std::tuple(-r.point.members, -late_of(r), r.point.number(axes::blocks).has_value(),
                        place_of_shape(r.point), median_of(r));
    };
    const auto& told = **std::ranges::min_element(here, {}, [&](const auto* r) { return place(*r); });
    const auto* usual = in_time(told, measured);
    const bool gpus = device == topology::device::gpu;
    auto text = fmt::format(
        "Where one of {0} comes {1} us late, everybody waits those {1} us for it; after it has come, {2} "
        "takes {3:.3g} us{4}",
        count_of_members(told.point), in_digits(late_of(told), 4), subject_of(told.point), median_of(told),
        format_shape(told.point).empty() ? "" : " at " + format_shape(told.point));
    if (usual == nullptr) {
      e.sentences.push_back(text + "; when nobody is late it was not measured (--late 0).");
      continue;
    }
    text += fmt::format(", {:.3g} us when nobody is late", median_of(*usual));
    const auto& m = first_metric(told);
    text += fmt::format(": {}a late {} costs the time that it is late{}.",
                        m.of_one_batch()
                            ? fmt::format("as far as one batch of {} tells, ", counted(m.samples, "sample"))
                            : "",
                        gpus ? "GPU" : "member",
                        median_of(told) <= median_of(*usual)
                            ? ", and nothing beyond"
                            : fmt::format(", and {} us", in_digits(median_of(told) - median_of(*usual), 2)));
    e.sentences.push_back(std::move(text));
  }
}

namespace {

// What joins all members of a group that a program could choose: idle, passed, in more than one batch, in
// ordinary circumstances.
frame<result> meetings_of(std::span<const result> all) {
  return where(all, is_measured_of(default_study), is_idle, is_callable, [](const result& r) {
    return r.verdict.passed && r.facts && !first_metric(r).of_one_batch() &&
           r.facts->extent == fact::extent::everything && r.point.members > 1 &&
           circumstances_of(r.point).empty();
  });
}

// Of these the one to tell of: over most members, at the first shape that fills all SMs, the fastest.
const result& told_of(const frame<result>& some) {
  const auto place = [](const result& r) {
    return std::tuple(-r.point.members, r.point.number(axes::blocks).has_value(), place_of_shape(r.point),
                      median_of(r));
  };
  return **std::ranges::min_element(some, {}, [&](const auto* r) { return place(*r); });
}

// The fastest whole barrier of the same maker beside it; nullptr where there is none.
const result* whole_beside(const result& told, const frame<result>& meetings) {
  return least(where(meetings,
                     [&](const result& r) {
                       return !r.orders_less() && &r != &told && r.facts->maker == told.facts->maker &&
                              r.point.device == told.point.device && r.point.members == told.point.members &&
                              format_shape(r.point) == format_shape(told.point);
                     }),
               median_of);
}

// " on 2 GPUs at 1x32".
std::string on_members_at_shape(const point& p) {
  const auto shape = format_shape(p);
  return fmt::format(" on {}{}", count_of_members(p), shape.empty() ? "" : " at " + shape);
}

topology::device device_of(const result& r) { return r.point.device; }

}  // namespace

// What a program calls that hands over no data: the fastest that joins all and orders nothing, beside what
// orders all by the same maker.
void add_unordered(std::span<const result> all, evaluation& e) {
  const auto passed = meetings_of(all);
  const auto unordered = where(passed, [](const result& r) { return r.facts->order == fact::order::none; });
  for (const auto& [device, here] : by(unordered, device_of)) {
    const auto& told = told_of(here);
    const auto* ordered = whole_beside(told, passed);
    if (ordered == nullptr || !is_shown_less(told, *ordered)) continue;
    e.sentences.push_back(fmt::format(
        "Where a step hands over no data,{} {} is enough, by {}: {:.4g} us in place of {:.4g} for {}. All "
        "come, and no memory is ordered.",
        on_members_at_shape(told.point), subject_of(told.point), told.facts->call, median_of(told),
        median_of(*ordered), subject_of(ordered->point)));
  }
}

void add_carried(std::span<const result> all, evaluation& e) {
  const auto passed = meetings_of(all);
  const auto carrying = where(passed, [](const result& r) { return !facts_of(r.point).carries.empty(); });
  for (const auto& [device, here] : by(carrying, device_of)) {
    const auto& told = told_of(here);
    const auto* plain = whole_beside(told, passed);
    if (plain == nullptr || !is_shown_less(*plain, told)) continue;
    const double more = median_of(told) - median_of(*plain);
    e.sentences.push_back(fmt::format(
        "A barrier that also carries {} ({}, by {}) takes {:.4g} us{}: {:.2g} us more than {} ({:.0f} %).",
        facts_of(told.point).carries, subject_of(told.point), told.facts->call, median_of(told),
        on_members_at_shape(told.point), more, subject_of(plain->point), 100 * more / median_of(*plain)));
  }
}

bool keeps_registers_in_memory(const result& r) {
  return r.found("algorithm").find("registers kept in memory") != std::string::npos;
}

std::string words_on_registers(const frame<result>& rows) {
  const auto kept = where(rows, keeps_registers_in_memory);
  if (kept.empty()) return "";
  const auto shapes_of = [&](const std::string& name) {
    const auto its = where(kept, [&](const result& r) { return marked_subject_of(r) == name; });
    return fmt::format("{}",
                       fmt::join(keys(its, [](const result& r) { return format_shape(r.point); }), ", "));
  };
  std::vector<std::string> names;
  for (const auto& [shapes, some] :
       groups(kept, [&](const result& r) { return shapes_of(marked_subject_of(r)); }))
    names.push_back(fmt::format("{} at {}", fmt::join(keys(some, marked_subject_of), ", "), shapes));
  return fmt::format(
      " Registers in memory, by {}: so many threads leave each fewer registers than the kernel "
      "needs; the rest is kept in memory, and the barrier's fences wait for that.",
      fmt::join(names, "; "));
}

namespace {

// Why the barrier of a result orders less, in words.
std::string how_it_orders_less(const result& r) {
  return !r.facts->joins_all()                 ? "only workers of equal number meet"
         : r.facts->order == fact::order::none ? "all meet, and no memory is ordered"
                                               : "all meet, and a half of memory order is left out";
}

}  // namespace

void add_forms_of_others(std::span<const result> all, evaluation& e) {
  const auto is_form = [](const barrier_variant& v) { return v.facts.origin == fact::origin::peer; };
  for (const auto* b : backends()) {
    if (!std::ranges::all_of(b->variants, is_form)) continue;
    const auto measured = where(all, is_measured_of(default_study), is_subject(b->name),
                                [](const result& r) { return r.facts.has_value(); });
    const auto forms = keys(measured, [](const result& r) { return r.point.variant; });
    if (forms.empty()) continue;
    auto text = fmt::format(
        "{} are {}. They run in mgsync's kernels, checked and timed as all others here, so that only the way "
        "to meet differs; a program calls those projects, and none of these.",
        b->name, b->summary);
    std::vector<std::string> less;
    for (const auto& [why, some] : groups(where(measured, &result::orders_less), how_it_orders_less)) {
      const auto names = keys(some, [](const result& r) { return r.point.variant; });
      less.push_back(fmt::format("{} ({})", fmt::join(names, ", "), why));
    }
    if (!less.empty())
      text += fmt::format(" Of these order less than a barrier: {}; all others order as much.",
                          fmt::join(less, "; "));
    else if (forms.size() == 1) text += " The one here orders as much as a barrier.";
    else text += fmt::format(" All {} order as much as a barrier.", forms.size());
    e.sentences.push_back(std::move(text));
  }
}

}  // namespace mgsync::barriers
