#include "src/studies/launch/launch_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/paper_numbers.hpp"

namespace mgsync::launch {

namespace {

table_entry with_interval(const result* r, std::string_view name) {
  const auto* m = r != nullptr ? r->find(name) : nullptr;
  if (m == nullptr) return r != nullptr && r->reason.starts_with("void") ? missing{"void"} : missing{};
  if (!is_shown(*m)) return missing{"not shown"};
  return noted{m->median * 1e3,
               m->of_one_batch() ? "(one batch)"
                                 : fmt::format("({:.0f} - {:.0f})", m->ci95_low * 1e3, m->ci95_high * 1e3)};
}

// The fastest barrier that passed and that a program can call, without load, work or a late member, in one
// process: of those that end a kernel, or of those inside one.
const result* fastest_barrier(std::span<const result> all, int members, const std::string& shape,
                              bool ends_kernel) {
  return least(where(all,
                     [&](const result& r) {
                       return r.facts && !r.facts->call.empty() && !r.orders_less() &&
                              r.facts->joins_grids() && r.point.device == topology::device::gpu &&
                              r.point.members == members && format_shape(r.point) == shape &&
                              r.has_metrics() && !first_metric(r).of_one_batch() && r.verdict.passed &&
                              (r.facts->driver == fact::driver::kernel_boundary) == ends_kernel &&
                              circumstances_of(r.point).empty();
                     }),
               median_of);
}

// What ending a kernel and starting the next costs with one kind of launch; null where noise hides it.
const result* fused_overhead(const std::map<place, found>& places, place of, const char* kind) {
  of.kind = kind;
  const auto* here = at(places, of);
  return here != nullptr && here->fused != nullptr && here->fused->has_metrics() &&
                 is_shown(here->fused->metrics.front())
             ? here->fused
             : nullptr;
}

// Adds when a new kernel is worth its launch. On one GPU a launch after another is a barrier; on several it
// is not, and is compared with the barriers that end a kernel on all of them.
void add_advice(const std::map<place, found>& places, std::span<const result> all, evaluation& e) {
  for (const auto& [where, here] : places) {
    const int members = where.members;
    const std::string& shape = where.shape;
    if (where.launch() != "traditional" || fused_overhead(places, where, "traditional") == nullptr) continue;
    const result* launched = members == 1 ? here.fused : fastest_barrier(all, members, shape, true);
    if (launched == nullptr) continue;
    const double launch_us = median_of(*launched);
    const std::string on = fmt::format("On {} at {}", counted(members, "GPU"), shape);
    const result* inside = fastest_barrier(all, members, shape, false);
    if (inside == nullptr) {
      e.sentences.push_back(
          fmt::format("{}: ending a kernel and starting the next costs {:.2f} us more than going on inside "
                      "one, less the latency of the barrier that it replaces; do it where it saves more.",
                      on, launch_us));
      continue;
    }
    const double barrier_us = median_of(*inside);
    const auto beside = [&](std::string_view what, const result& other) {
      const double us = median_of(other);
      // Less than the intervals tell is no advice.
      const auto verdict = us <= barrier_us ? std::string("costs no more")
                           : is_shown_less(*inside, other)
                               ? fmt::format("pays when it saves more than {:.2f} us", us - barrier_us)
                               : std::string("is not shown to cost more");
      return fmt::format("{} ({} {:.2f} us, {} {:.2f} us)", verdict, what, us, subject_of(inside->point),
                         barrier_us);
    };
    auto text =
        fmt::format("{}: instead of synchronizing inside a kernel, a new kernel {}", on,
                    beside(members == 1 ? "a launch while a longer kernel runs" : subject_of(launched->point),
                           *launched));
    if (const auto* in_graph = members == 1 ? fused_overhead(places, where, "graph") : nullptr)
      text += fmt::format("; as a node of a graph it {}", beside("a node behind a longer one", *in_graph));
    e.sentences.push_back(text + ".");
  }
}

// Rounds of kernels in a graph: in all, and for each edge that comes from another GPU.
void add_rounds(std::span<const result> all, evaluation& e) {
  table t{{"graph-edges", "A round of kernels in a graph, each waiting for all of the round before"},
          {{"GPUs", ">"},
           {"kernels in a round", ">"},
           {"edges between GPUs", ">"},
           {"us per round", ".2f"},
           {"us for each of these edges", ".2f"},
           {"with a node between, us", ".2f"}}};
  const auto rounds = where(all, is_measured_of("launch"), has("quantity", "round"));
  const auto key = [](const result& r) { return std::pair(r.point.members, number("kernels")(r)); };
  const auto joined = one_by(where(rounds, is_variant("joined")), key);
  for (const auto* r : where(rounds, is_variant("edges"))) {
    const auto [gpus, kernels] = key(*r);
    const double on_most = std::ceil(kernels / gpus), most = kernels - gpus * (on_most - 1);
    const double crossing =
        kernels * kernels - most * on_most * on_most - (gpus - most) * (on_most - 1) * (on_most - 1);
    const auto* through = at(joined, {gpus, kernels});
    t.add({gpus, kernels, crossing, median_of(*r), ratio(median_of(*r), crossing),
           through == nullptr ? table_entry(std::nullopt) : table_entry(median_of(*through))},
          short_key(r->point));
  }
  e.add(std::move(t));
}

// Graphs of nodes in a chain: the whole graph, and what one more node adds beside the next shorter graph.
void add_nodes(std::span<const result> all, evaluation& e) {
  table t{
      {"graph-nodes", "A graph of nodes in a chain, by how many and of which kind",
       "From the launch call until the host has seen the end; one more node: beside the next shorter graph. "
       "Making: instantiation, and the upload to the GPU."},
      {{"node", ""},
       {"nodes", ">"},
       {"graph, us", ".2f"},
       {"ci95", ".2f"},
       {"one more node, us", ".3f"},
       {"launch call, us", ".2f"},
       {"instantiation, us", ".0f"},
       {"upload, us", ".0f"}}};
  const auto graphs = where(all, is_measured_of("launch"), has("quantity", "graph"));
  const auto in_all = [](const result& r) { return median_of(r) * number("nodes")(r); };
  const auto of = [](const result& r, const char* name) {
    const auto* m = r.find(name);
    return m == nullptr ? table_entry(std::nullopt) : table_entry(m->median);
  };
  for (const auto& [kind, some] : by(graphs, [](const result& r) { return r.point.variant; })) {
    const result* shorter = nullptr;
    for (const auto& [count, r] : one_by(some, number("nodes"))) {
      const auto& m = first_metric(*r);
      t.add({kind, count, in_all(*r), range{m.ci95_low * count, m.ci95_high * count},
             shorter == nullptr
                 ? table_entry(std::nullopt)
                 : table_entry((in_all(*r) - in_all(*shorter)) / (count - number("nodes")(*shorter))),
             of(*r, "call"), of(*r, "instantiation"), of(*r, "upload")},
            short_key(r->point));
      shorter = r;
    }
  }
  e.add(std::move(t));
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  const auto places = by_place(all);
  add_rounds(all, e);
  add_nodes(all, e);
  if (places.empty()) return e;
  table t{{"launch-overhead", "What a launch costs (000, table I; 004, figures 4 to 6)",
           "In ns, with 95 % intervals. Not shown: the interval reaches below zero, so that all of it may be "
           "noise."},
          {"members | >", "shape", "launch", "call | .0f", "null kernel, additional | .0f",
           "fused overhead | .0f", "unit, us | .0f", "null kernel, total | .0f", "other | .0f"}};
  for (const auto& [where, here] : places) {
    if (here.null == nullptr && here.total == nullptr && here.fused == nullptr) continue;
    const parts p{ns(here.null, "call"), ns(here.fused, "overhead"), ns(here.total, "time")};
    const result* const from = here.null != nullptr    ? here.null
                               : here.fused != nullptr ? here.fused
                                                       : here.total;
    t.add({where.members, where.shape, where.launch(), with_interval(here.null, "call"),
           with_interval(here.null, "latency"), with_interval(here.fused, "overhead"),
           ns(here.fused, "unit") * 1e-3, with_interval(here.total, "time"), p.other_ns()},
          short_key(from->point));
  }
  const bool gpus = first(all, is_of("launch"),
                          [](const result& r) { return r.point.device == topology::device::gpu; }) != nullptr;
  for (const auto* kind : {"traditional", "cooperative", "multi-device"}) {
    if (!gpus || t.rows.empty()) break;
    const auto of = [kind](const char* paper, const char* place, const char* quantity) {
      return number_of(paper, place, kind, "V100", quantity);
    };
    t.add({1, "", fmt::format("{} (V100, CUDA 10; 000, table I)", kind), std::nullopt, std::nullopt,
           of("000", "table I", "fused overhead"), 10, of("000", "table I", "null kernel total"),
           std::nullopt});
    t.add({1, "", fmt::format("{} (V100; 004)", kind), of("004", "figure 4", "call"),
           of("004", "figure 4", "null kernel additional"), of("004", "figure 5", "fused overhead"),
           of("004", "figure 5", "unit") * 1e-3, std::nullopt, of("004", "figure 6", "other")});
  }
  e.add(std::move(t));
  add_figures(places, e);
  add_advice(places, all, e);
  return e;
}

}  // namespace mgsync::launch
