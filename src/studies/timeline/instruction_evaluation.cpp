#include "src/studies/timeline/timeline_evaluation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/studies/timeline/instruction_list.hpp"

namespace mgsync::timelines {

namespace {

const instruction* known(const result& r) {
  if (r.point.study != "timeline" || !r.has_metrics()) return nullptr;
  const auto all = instructions();
  const auto found = std::ranges::find(all, r.point.subject, &instruction::name);
  return found == all.end() ? nullptr : &*found;
}

void add_table(std::span<const result> all, evaluation& e) {
  table t{{"instructions", "Single instructions, in cycles",
           "by link: the slope over chains of 4 to 32, in which no clock read is. once: one between two "
           "clock reads, these included. as compiled: the same with clock reads that nothing ties to it, as "
           "an unchecked probe has them."},
          {"instruction", "of | >", "by link | .1f", "once | .1f", "as compiled | .1f", "published"}};
  for (const auto& r : all) {
    const auto* const i = known(r);
    if (i == nullptr) continue;
    const bool varied = !i->varied.empty();
    const double over = varied ? r.point.number(i->varied).value_or(0) : 0;
    t.add({i->what, varied ? fmt::format("{}: {:.0f}", i->varied, over) : "", r.find("latency"),
           r.find("once"), r.find("as_compiled"), !varied || over == i->published_at ? i->published : ""},
          short_key(r.point));
  }
  e.add(std::move(t));
}

void add_curves(std::span<const result> all, evaluation& e) {
  for (const auto& i : instructions()) {
    if (i.varied.empty()) continue;
    chart c{{fmt::format("instruction-{}", i.name), fmt::format("{}: over the {}", i.what, i.varied),
             "Cycles by link of a chain, by the SM's cycle counter; machine code checked."},
            {std::string(i.varied)},
            {"latency (cycles)"},
            {}};
    curve line{std::string(i.what), {}};
    for (const auto& r : all)
      if (const auto* m = known(r) == &i ? r.find("latency") : nullptr; m != nullptr)
        line.points.push_back({r.point.number(i.varied).value_or(0),
                               m->median,
                               m->ci95_low,
                               m->ci95_high,
                               m->raw,
                               {},
                               short_key(r.point)});
    std::ranges::sort(line.points, {}, &chart_point::x);
    if (line.points.size() < 2) continue;
    c.curves.push_back(std::move(line));
    e.figures.push_back(std::move(c));
  }
}

void add_pairs(const result& r, evaluation& e) {
  if (!r.has_metrics()) return;
  table t{{"pairs", "How much of an instruction is hidden beside another",
           "1 - (T(ab) - max(T(a), T(b))) / min(T(a), T(b)), of one warp, each single shot between two clock "
           "reads less what these add, which is seen around a load: 100 %, the shorter costs nothing; 0 %, "
           "one after the other; below, they hinder each other."},
          {"instruction", "alone, cycles | .1f"}};
  for (const auto& i : lone_instructions) t.columns.push_back({fmt::format("beside {}", i.what), ".0f %"});
  for (const auto& a : lone_instructions) {
    std::vector<table_entry> row{fmt::format("{} ({})", a.what, a.opcode), r.find(a.name)};
    for (const auto& b : lone_instructions) {
      const auto* m = &a == &b ? nullptr : r.find(&a < &b ? pair_kernel(a, b) : pair_kernel(b, a));
      row.push_back(m == nullptr ? missing{""} : table_entry(m));
    }
    t.add(row);
  }
  e.add(std::move(t));
}

}  // namespace

void add_instructions(std::span<const result> all, evaluation& e) {
  add_table(all, e);
  add_curves(all, e);
  for (const auto& r : all)
    if (r.point.study == "timeline" && r.point.subject == "pairs") add_pairs(r, e);
}

}  // namespace mgsync::timelines
