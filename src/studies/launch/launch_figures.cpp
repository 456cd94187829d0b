#include "src/studies/launch/launch_evaluation.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "src/studies/launch/wait_gradient.hpp"

namespace mgsync::launch {

namespace {

// A name such as "graph", or "graph 1x1024" where there are several shapes.
std::string name_of(const place& where, bool several_shapes) {
  return several_shapes && !where.shape.empty() ? fmt::format("{} {}", where.launch(), where.shape)
                                                : where.launch();
}

bool several_shapes(const std::map<place, found>& places) {
  for (const auto& [where, here] : places)
    if (where.shape != places.begin()->first.shape) return true;
  return false;
}

// The smallest number of members that was measured.
int fewest(const std::map<place, found>& places) { return places.begin()->first.members; }

void add_gradients(const std::map<place, found>& places, evaluation& e) {
  chart c{{"launch-gradient", "What one more unit of waiting adds to a kernel (004, figure 2)",
           "(T(1, 2n) - T(1, n)) / n, over n. Where it is the unit's length, more units in a kernel add no "
           "overhead. The units last what is asked for by the device's own timer."},
          {"units of waiting n", true},
          {"one more unit (us)"},
          {}};
  const bool shapes = several_shapes(places);
  for (const auto& [where, here] : places) {
    if (where.members != fewest(places) || here.gradient == nullptr || !here.gradient->has_metrics())
      continue;
    curve line{name_of(where, shapes), {}};
    for (const auto n : gradient_units())
      if (const auto* m = here.gradient->find(gradient_name(n)); m != nullptr && is_shown(*m))
        line.points.push_back({static_cast<double>(n),
                               m->median,
                               m->ci95_low,
                               m->ci95_high,
                               m->raw,
                               {},
                               short_key(here.gradient->point)});
    c.curves.push_back(std::move(line));
  }
  if (c.curves.empty()) return;
  curve asked{"the unit", {}};
  asked.reference = true;
  for (const auto n : {gradient_units().front(), gradient_units().back()})
    asked.points.push_back({static_cast<double>(n), gradient_unit_us});
  c.curves.push_back(std::move(asked));
  e.figures.push_back(std::move(c));
}

// One metric of one quantity by kind of launch, drawn as dots.
struct series {
  std::string_view name;
  const result* found::*of;
  std::string_view metric;
};

void add_by_kind(const std::map<place, found>& places, figure_heading heading, std::string label,
                 std::span<const series> all, evaluation& e) {
  chart c{std::move(heading), {"launch"}, {std::move(label)}, {}};
  const bool shapes = several_shapes(places);
  for (const auto& s : all) {
    c.curves.push_back({std::string(s.name), {}});
    c.curves.back().dots = true;
  }
  for (const auto& [where, here] : places) {
    if (where.members != fewest(places)) continue;
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto* r = here.*all[i].of;
      const auto* m = r == nullptr || !r->has_metrics() ? nullptr : r->find(all[i].metric);
      if (m == nullptr || !is_shown(*m)) continue;
      any = true;
      c.curves[i].points.push_back({static_cast<double>(c.x.categories.size()),
                                    m->median,
                                    m->ci95_low,
                                    m->ci95_high,
                                    {},
                                    {},
                                    short_key(r->point)});
    }
    if (any) c.x.categories.push_back(name_of(where, shapes));
  }
  if (!c.x.categories.empty()) e.figures.push_back(std::move(c));
}

void add_parts(const std::map<place, found>& places, evaluation& e) {
  bar_chart stacked{{"launch-parts", "One null kernel (004, figure 6)",
                     "Total latency, taken apart: the launch call, the execution overhead by fused "
                     "launches, and what is neither."},
                    {"time (ns)"},
                    {"launch call", "execution overhead", "other"},
                    {}};
  for (const auto& [where, here] : places) {
    const parts p{ns(here.null, "call"), ns(here.fused, "overhead"), ns(here.total, "time")};
    if (where.members == 1 && !std::isnan(p.other_ns()) && p.other_ns() > 0 && p.execution_ns > 0)
      stacked.bars.push_back(
          {fmt::format("{} {}", where.launch(), where.shape), {p.call_ns, p.execution_ns, p.other_ns()}});
  }
  if (!stacked.bars.empty()) e.figures.push_back(std::move(stacked));
}

void add_over_gpus(const std::map<place, found>& places, evaluation& e) {
  std::map<std::string, curve> over_gpus;
  for (const auto& [where, here] : places) {
    if (here.fused == nullptr || !here.fused->has_metrics() || !is_shown(here.fused->metrics.front()))
      continue;
    const auto& m = here.fused->metrics.front();
    const auto name = fmt::format("{} {}", where.launch(), where.shape);
    auto& c = over_gpus[name];
    c.name = name;
    c.points.push_back({static_cast<double>(where.members),
                        m.median,
                        m.ci95_low,
                        m.ci95_high,
                        {},
                        {},
                        short_key(here.fused->point)});
  }
  chart lines{
      {"launch-over-gpus", "Fused overhead over GPUs (004, figure 5)"}, {"members"}, {"overhead (us)"}, {}};
  for (auto& [name, c] : over_gpus)
    if (c.points.size() > 1) lines.curves.push_back(std::move(c));
  if (!lines.curves.empty()) e.figures.push_back(std::move(lines));
}

}  // namespace

std::string place::launch() const {
  std::string words = kind;
  if (argument_bytes != 0) words += fmt::format(", {} B of arguments", argument_bytes);
  if (!policy.empty()) words += ", " + policy;
  return words;
}

std::map<place, found> by_place(std::span<const result> all) {
  std::map<place, found> places;
  for (const auto& r : all) {
    if (r.point.study != "launch" || r.point.word("quantity") == "round" ||
        r.point.word("quantity") == "graph")
      continue;
    const double bytes = r.point.number("argument_bytes").value_or(0);
    place where{r.point.members,
                shape_of(r.point),
                format_shape(r.point),
                r.point.subject,
                bytes > 0 && bytes < 1e6 ? static_cast<unsigned>(bytes) : 0,
                {}};
    if (const auto policy = r.point.word("policy"); policy != "synchronize") where.policy = policy;
    auto& here = places[where];
    const auto what = r.point.word("quantity");
    (what == "null"       ? here.null
     : what == "total"    ? here.total
     : what == "gradient" ? here.gradient
                          : here.fused) = &r;
  }
  return places;
}

bool is_shown(const metric& m) { return !(m.ci95_low <= 0); }

double ns(const result* r, std::string_view name) {
  const auto* m = r == nullptr ? nullptr : r->find(name);
  return m != nullptr && is_shown(*m) ? m->median * 1e3 : std::numeric_limits<double>::quiet_NaN();
}

void add_figures(const std::map<place, found>& places, evaluation& e) {
  if (places.empty()) return;
  add_parts(places, e);
  const series null[] = {{"launch call", &found::null, "call"},
                         {"one more null kernel", &found::null, "latency"}};
  add_by_kind(places,
              {"launch-null", "Null kernels: the call, and what one more adds (004, figure 4)",
               "Where both are the same, the host is what is waited for."},
              "time (us)", null, e);
  const series waiting[] = {{"one more kernel of one unit", &found::fused, "additional"},
                            {"launch call beside it", &found::fused, "call"},
                            {"the unit asked for", &found::fused, "unit"},
                            {"execution overhead, fused", &found::fused, "overhead"}};
  add_by_kind(places,
              {"launch-waiting", "Kernels that wait longer than a launch takes (004, figure 5)",
               "The unit is lengthened until the overhead stops changing."},
              "time (us)", waiting, e);
  add_over_gpus(places, e);
  add_gradients(places, e);
}

}  // namespace mgsync::launch
