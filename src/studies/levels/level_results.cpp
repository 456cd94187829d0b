#include "src/studies/levels/level_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "src/results/frame/frame.hpp"
#include "src/studies/levels/level_points.hpp"
#include "src/studies/levels/probe_checker.hpp"

namespace mgsync::levels {

namespace {

unsigned run_number(const point& p) { return static_cast<unsigned>(p.number("run").value_or(1)); }

const probe_family* known_family(const std::string& name) {
  const auto found = std::ranges::find(families(), name, &probe_family::name);
  return found == families().end() ? nullptr : &*found;
}

bool is_of_study(const result& r) {
  return r.point.study == "levels" && known_family(r.point.subject) != nullptr;
}

bool is_left_free(const result& r) { return !r.point.word("left_free").empty(); }

std::string key_without(point p, std::string_view axis) {
  p.remove(axis);
  return canonical_text(p);
}

// Selects the results that stand for the study's values. Where a cluster was also measured as the launch
// places it, that result is taken: a block that asks for all of an SM's shared memory, to be alone there,
// makes the time of a fence vary from launch to launch.
class figures_of {
 public:
  explicit figures_of(std::span<const result> all) {
    for (const auto& r : all)
      if (r.point.word("left_free") == "place") as_launched_.insert(key_without(r.point, "left_free"));
  }
  bool has(const result& r) const {
    const auto left = r.point.word("left_free");
    return left == "place" || (left.empty() && !as_launched_.contains(canonical_text(r.point)));
  }

 private:
  std::set<std::string> as_launched_;
};

// The slope through the median of all samples of each length, for probes whose samples hardly ever repeat, so
// that the mode says little.
double slope_of_medians(const result& r) {
  std::vector<double> lengths, cycles;
  for (const auto& [links, counts] : histograms_of(r)) {
    lengths.push_back(static_cast<double>(links));
    cycles.push_back(static_cast<double>(median_of(counts)));
  }
  return lengths.size() < 2 ? r.metrics.front().median : fit_line(lengths, cycles).slope;
}

double of(const result& r, std::string_view name, double otherwise) {
  const auto* m = r.find(name);
  return m == nullptr ? otherwise : m->median;
}

level_value value_of(const result& r, quantity what, double mhz) {
  const auto& m = r.metrics.front();
  const auto number = [&](std::string_view name, double otherwise) {
    return static_cast<unsigned>(r.point.number(name).value_or(otherwise));
  };
  level_value v;
  v.family = r.point.subject;
  v.quantity = what;
  v.threads = number(axes::threads_per_block, 32);
  v.blocks_per_sm = number(axes::blocks_per_sm, 1);
  v.cluster = known_family(r.point.subject)->cluster;
  v.lanes = number("lanes", 32);
  v.mask = r.point.word("mask");
  v.where = r.point.word("where");
  const double factor = what == quantity::host ? mhz : 1;  // converts us into cycles
  v.value = m.median * factor;
  v.low = of(r, "lowest", m.ci95_low) * factor;
  v.high = of(r, "highest", m.ci95_high) * factor;
  v.residual = of(r, "residual", 0);
  const auto& lengths = known_family(r.point.subject)->lengths;
  // Of L2 and DRAM each SM has a line of its own, and the extremes over them stand beside the figure.
  v.is_line = what != quantity::latency || v.where == "L2" || v.where == "DRAM" ||
              is_a_line(v.value, v.residual, lengths.back() - lengths.front());
  v.sms = static_cast<std::size_t>(of(r, "places", 1));
  v.samples = m.samples;
  return v;
}

// How closely a second run must repeat the slope, as a share of it: within 0.1 % where only the SM itself is
// used, within 1 % where other parts of the chip are.
struct demand {
  std::string name;
  double slope = 0.001;
  bool modes = true;
};

demand demand_of(const point& p) {
  const auto scope = p.word("scope"), where = p.word("where");
  if (where.starts_with("L2") || where == "DRAM") return {"L2 and DRAM", 0.01, false};
  if (scope == "cluster") return {"clusters, medians", 0.01, false};
  if (p.subject == "remote_shared_chase" || p.subject == "global_atomic" || p.subject == "mbarrier_bulk_copy")
    return {"other SMs' shared memory, atomics in L2, copies from L2", 0.01, false};
  // Where many warps poll, no two passes are alike, however they begin: there is no mode to compare.
  if (p.subject.starts_with("mbarrier_t") && p.number(axes::threads_per_block).value_or(32) > 512)
    return {"mbarriers polled by more than 512 threads, medians", 0.001, false};
  if (p.subject.starts_with("mbarrier")) return {"mbarriers", 0.001, true};
  return {scope == "warp"    ? "warps"
          : scope == "block" ? "barriers of a block"
                             : "shared memory and L1",
          0.001, true};
}

struct tally {
  std::size_t points = 0, modes = 0, slopes = 0;
  double worst = 0;
  demand asked;
};

// Whether two results have samples of the same lengths, with the same mode at each length.
bool equal_modes(const result& a, const result& b) {
  const auto first = histograms_of(a), second = histograms_of(b);
  return !first.empty() && std::ranges::equal(first, second, [](const auto& x, const auto& y) {
    return x.first == y.first && mode_of(x.second) == mode_of(y.second);
  });
}

std::string modes_of(const result& r) {
  std::string text;
  for (const auto& [links, counts] : histograms_of(r))
    text += fmt::format("{}{}", text.empty() ? "" : " ", mode_of(counts));
  return text;
}

}  // namespace

std::vector<unsigned> runs_in(std::span<const result> all) {
  std::set<unsigned> runs;
  for (const auto& r : all)
    if (is_of_study(r) && r.has_metrics()) runs.insert(run_number(r.point));
  return {runs.begin(), runs.end()};
}

measured_run run_of(std::span<const result> all, unsigned run) {
  measured_run one;
  const figures_of figures(all);
  std::size_t clocks = 0;
  for (const auto& r : all) {
    if (!is_of_study(r) || run_number(r.point) != run) continue;
    const auto what = from_word<quantity>(r.point.word("quantity"));
    if (!what) continue;
    if (r.reason.starts_with(probes::not_as_said))
      one.gpu.not_checked[r.point.subject] = r.reason.substr(probes::not_as_said.size());
    else if (!r.has_metrics()) one.gpu.not_measured[r.point.subject] = why_not(r);
    if (!r.has_metrics() || !figures.has(r)) continue;
    const double mhz = r.number("clock").value_or(0);
    if (mhz > 0) one.gpu.mhz += mhz, ++clocks;
    if (const auto name = r.found("gpu"); !name.empty()) one.gpu.name = name;
    one.values.push_back(value_of(r, *what, mhz));
  }
  if (clocks > 0) one.gpu.mhz /= static_cast<double>(clocks);
  return one;
}

repetition compare_runs(std::span<const result> all, unsigned first, unsigned second) {
  const figures_of figures(all);
  const auto of_run = [&](unsigned run) {
    return where(all, [&](const result& r) {
      return is_of_study(r) && r.has_metrics() && figures.has(r) && run_number(r.point) == run &&
             from_word<quantity>(r.point.word("quantity")) == quantity::latency &&
             r.verdict.kind == verdict_kind::code;
    });
  };
  const auto key_of = [](const result& r) { return key_without(r.point, "run"); };
  repetition found;
  found.apart = {
      {"repetition", "What two runs do not repeat",
       "Slopes further apart than is asked for, or another mode of the raw samples at some chain length."},
      {"probe", "shape", "where", "run 1, cycles | .3f", "run 2, cycles | .3f", "difference | .2f %",
       "modes, run 1", "modes, run 2"}};
  std::map<std::string, tally> tallies;
  for (const auto& [after, before] : join(of_run(second), of_run(first), key_of).both) {
    const auto& p = after->point;
    const auto asked = demand_of(p);
    auto& t = tallies[asked.name];
    t.asked = asked;
    const bool cluster = p.word("scope") == "cluster";
    const double a = cluster ? slope_of_medians(*before) : median_of(*before);
    const double b = cluster ? slope_of_medians(*after) : median_of(*after);
    const double difference = std::abs(b / a - 1);
    const bool modes = !asked.modes || equal_modes(*before, *after), slopes = difference <= asked.slope;
    ++t.points;
    t.modes += modes;
    t.slopes += slopes;
    t.worst = std::max(t.worst, difference);
    if (modes && slopes) continue;
    found.apart.add(
        {p.subject, format_shape(p), p.word("where"), a, b, difference, modes_of(*before), modes_of(*after)});
  }
  for (const auto& [name, t] : tallies) {
    if (t.asked.modes)
      found.expectations.push_back({name + ": the modes of the raw samples in two runs", "equal",
                                    fmt::format("{} of {} points", t.modes, t.points), t.modes == t.points});
    found.expectations.push_back({name + ": slopes of two runs",
                                  fmt::format("within {:g} %", 100 * t.asked.slope),
                                  fmt::format("{} of {} points, {} % at most", t.slopes, t.points,
                                              shown_beside(100 * t.asked.slope, 100 * t.worst, 2)),
                                  t.slopes == t.points});
  }
  return found;
}

table table_of_chance(std::span<const result> all) {
  table t{{"chance", "What is left to chance, and what it does",
           "Slopes of the six launches, from the least to the largest: where the warps of a block begin "
           "their passes when they happen to, or the blocks "
           "of a cluster stand where the launch puts them (on so many SMs, in so many launches), and where "
           "the study decides: warps begin together, a "
           "block asks for all of its SM's shared memory."},
          {"probe", "shape", "left free", "run | >", "cycles, left free | .2f", "SMs",
           "cycles, decided | .2f", "SMs"}};
  const auto is_measured = [](const result& r) { return is_of_study(r) && r.has_metrics(); };
  const auto decided = one_by(where(all, is_measured, std::not_fn(is_left_free)),
                              [](const result& r) { return canonical_text(r.point); });
  const auto cycles = [](const result* r) {
    return r == nullptr ? table_entry(std::nullopt)
                        : range{r->metrics.front().min, r->metrics.front().max, " to "};
  };
  const auto sms = [](const result* r) {
    return r == nullptr || r->found("sms").empty() ? "-" : r->found("sms");
  };
  for (const auto* r : where(all, is_measured, is_left_free)) {
    const auto* other = at(decided, key_without(r->point, "left_free"));
    t.add({r->point.subject, format_shape(r->point), r->point.word("left_free"), run_number(r->point),
           cycles(r), sms(r), cycles(other), sms(other)});
  }
  return t;
}

}  // namespace mgsync::levels
