#include "src/studies/model/model_evaluation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/harness/methods/slope.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/paper_numbers.hpp"
#include "src/studies/model/measured_crossing.hpp"

namespace mgsync::model {
namespace {

// What was measured of one form of the loop.
struct measured_form {
  std::map<unsigned, std::map<double, const result*>> sums;  // by workers, then bytes
  std::map<unsigned, const result*> loops;                   // by workers
};

// What an SM's shared memory gives: 32 banks of 4 bytes.
constexpr double most_bytes_per_cycle = 128;

struct steps {
  std::optional<double> shuffle, shuffle_alone, barrier_alone;
  std::map<unsigned, double> tree;  // by the number of threads that take part
  std::map<unsigned, double> join;  // joining as a whole, by the number of threads whose sums are joined
};

unsigned workers_of(const result& r) { return static_cast<unsigned>(r.point.number("workers").value_or(0)); }
std::string name_of(unsigned workers) {
  return workers == 1 ? "1 thread" : workers == 32 ? "1 warp" : fmt::format("{} threads", workers);
}

// Cycles over turns, as every length's typical number says; nothing of results without lengths.
struct measured_line {
  line_fit fit;
  bool holds = true;  // whether it is a line
};
std::optional<measured_line> fit_of(const result& r) {
  std::vector<double> x, y;  // turns, and the mean of their modes over batches
  for (std::uint64_t turns = 1; turns <= most_turns; ++turns) {
    double sum = 0, count = 0;
    for (const auto& sample : r.samples)
      if (const double mode = sample.at(mode_column(turns)); !std::isnan(mode)) sum += mode, ++count;
    if (count == 0) continue;
    x.push_back(static_cast<double>(turns));
    y.push_back(sum / count);
  }
  if (x.size() < 2) return std::nullopt;
  const auto fit = fit_line(x, y);
  return measured_line{fit, fit.slope > 0 && is_a_line(fit.slope, fit.residual, x.back() - x.front())};
}

steps steps_of(std::span<const result> all) {
  steps found;
  for (const auto* step : where(all, is_measured_of("model"), is_subject("step"))) {
    const auto& r = *step;
    if (const auto line = fit_of(r); line && !line->holds) continue;
    if (r.point.variant == "shuffle") found.shuffle = median_of(r);
    if (r.point.variant == "join") found.join[workers_of(r)] = median_of(r);
    if (r.point.variant == "shuffle-alone") found.shuffle_alone = median_of(r);
    if (r.point.variant == "barrier-alone") found.barrier_alone = median_of(r);
    if (r.point.variant == "tree") found.tree[workers_of(r)] = median_of(r);
  }
  return found;
}

std::map<std::string, measured_form> forms_of(std::span<const result> all) {
  std::map<std::string, measured_form> found;
  for (const auto& r : all) {
    if (r.point.study != "model" || !r.has_metrics() || !r.verdict.passed) continue;
    if (r.point.subject == "sum")
      found[r.point.variant].sums[workers_of(r)][r.point.number("bytes").value_or(0)] = &r;
    if (r.point.subject == "loop") found[r.point.variant].loops[workers_of(r)] = &r;
  }
  return found;
}

// The sum of the steps from `workers` sums down to one value, in cycles; nothing where a step was not
// measured.
std::optional<double> steps_alone(const steps& s, unsigned workers) {
  if (!s.shuffle) return std::nullopt;
  double cycles = 5 * *s.shuffle;
  for (unsigned active = workers / 2; active >= 32; active /= 2) {
    if (!s.tree.contains(active)) return std::nullopt;
    cycles += s.tree.at(active);
  }
  return cycles;
}

// The cost of joining in cycles: measured as a whole, with its branches, or else the sum of its steps.
std::optional<double> joining_of(const steps& s, unsigned workers) {
  if (workers == 1) return 0;
  if (const auto whole = s.join.find(workers); whole != s.join.end()) return whole->second;
  return steps_alone(s, workers);
}

// The latency as the paper has it, in cycles: a turn of the same loop, as compiled or not, by one thread, or
// by a warp for any larger number of threads (with more warps, loads would queue).
double turn_latency(const measured_form& f, unsigned workers) {
  const auto loop = f.loops.find(workers == 1 ? 1 : 32);
  return loop == f.loops.end() ? 0 : line_of(*loop->second).value_or(turns_line{}).per_turn;
}

// The value that paper 000 prints in a cell; "-" where it has none.
std::string of_paper(std::string_view place, std::string_view row, std::string_view machine,
                     std::string_view quantity) {
  const auto* known = published("000", place, row, machine, quantity);
  return known == nullptr ? "-" : known->quoted;
}

void add_table_iii(const std::map<std::string, measured_form>& forms, evaluation& e) {
  table t{
      {"table-iii", "What so many threads add up of shared memory (000, table III)",
       "The loop alone, without joining. Latency, as the paper has it: a thread's or a warp's turn of that "
       "loop (V100, P100: 13.0 and 18.5 cycles). C: throughput x latency (Little's law). Residual: the "
       "furthest that a length lies from the line; where it is no line there is no number. An SM loads "
       "128 B/cycle at most, which the paper's 215 and 141 exceed."},
      {"loop", "threads | >", "B/cycle V100 | >", "P100 | >", "here | .2f", "cycles a turn | .2f",
       "latency | .1f", "C V100 | >", "P100 | >", "here | .0f", "residual | .1f"}};
  for (const auto& [form, f] : forms) {
    for (const auto& [workers, r] : f.loops) {
      const auto line = fit_of(*r);
      if (!line) continue;
      const double latency = turn_latency(f, workers), rate = 8.0 * workers / line->fit.slope;
      const auto shown = [&](double value) {
        return line->holds && value > 0 ? table_entry(value) : missing{"no line"};
      };
      const auto of = [row = fmt::format("{}", workers)](const char* machine, const char* quantity) {
        return of_paper("table III", row, machine, quantity);
      };
      t.add({form, workers, of("V100", "bandwidth"), of("P100", "bandwidth"), shown(rate),
             shown(line->fit.slope), shown(latency), of("V100", "concurrency"), of("P100", "concurrency"),
             shown(rate * latency), line->fit.residual});
    }
  }
  e.add(std::move(t));
}

void add(expectations& all, std::string what, std::string limit, std::string measured, bool holds) {
  all.push_back({std::move(what), std::move(limit), std::move(measured), holds});
}

struct switch_case {
  unsigned basic, more;
  std::string of(const char* machine, const char* quantity) const {
    return of_paper("table IV", fmt::format("{} -> {}", basic, more), machine, quantity);
  }
};
constexpr switch_case switches[] = {{1, 32}, {32, 1024}};

std::optional<refined_configuration> refined(const measured_form& f, const steps& s, unsigned workers) {
  const auto loop = f.loops.find(workers);
  const auto joining = joining_of(s, workers);
  if (loop == f.loops.end() || !joining) return std::nullopt;
  const auto line = line_of(*loop->second);
  if (!line) return std::nullopt;
  return refined_configuration{workers, *line, *joining};
}

// Adds what joining costs beyond its steps: branches, and the reconvergence of a warp's lanes after the loop.
void add_joining(const steps& s, evaluation& e) {
  table t{{"joining", "What joining costs, in cycles",
           "Bare: five shuffles, or five barriers and five shuffles. Steps: with their stores, loads and "
           "additions. As a whole: a probe of joining with its branches, behind a loop that lanes may leave "
           "apart."},
          {"threads | >", "bare | .0f", "steps | .0f", "as a whole | .0f", "beyond the steps | .0f"}};
  for (const auto& [workers, whole] : s.join) {
    const auto alone = steps_alone(s, workers);
    const bool tree = workers > 32;
    std::optional<double> bare = s.shuffle_alone;
    if (bare) *bare *= 5;
    if (bare && tree) bare = s.barrier_alone ? std::optional(*bare + 5 * *s.barrier_alone) : std::nullopt;
    t.add({workers, bare, alone, whole, alone ? table_entry(whole - *alone) : std::nullopt});
  }
  e.add(std::move(t));
}

std::vector<double> cycles_over(const refined_configuration& c, const std::vector<double>& bytes) {
  std::vector<double> all;
  for (const double b : bytes) all.push_back(c.cycles(b));
  return all;
}

void add_switch(const std::string& form, const measured_form& f, const steps& s, const switch_case& one,
                table& t, evaluation& e, expectations& c) {
  if (!f.sums.contains(one.basic) || !f.sums.contains(one.more)) return;
  const auto& basic = f.sums.at(one.basic);
  const auto& more = f.sums.at(one.more);
  const auto bytes = common_sizes(basic, more);
  if (bytes.size() < 2) return;
  const auto measured = measured_between(basic, more);
  const auto sync = one.more == 32 ? s.shuffle_alone : s.barrier_alone;
  std::optional<double> paper, better_form;
  const auto of = [&](unsigned workers) -> std::optional<configuration> {
    const auto loop = f.loops.find(workers);
    const auto line = loop == f.loops.end() ? std::nullopt : line_of(*loop->second);
    if (!line || turn_latency(f, workers) <= 0) return std::nullopt;
    return configuration{name_of(workers), 8.0 * workers / line->per_turn, turn_latency(f, workers)};
  };
  if (const auto basic_form = of(one.basic), more_form = of(one.more); sync && basic_form && more_form)
    paper = where_they_meet(*basic_form, *more_form, 5 * std::max(0.0, *sync)).for_good;
  const auto few = refined(f, s, one.basic), many = refined(f, s, one.more);
  if (few && many)
    better_form = foretold_crossing(bytes, cycles_over(*few, bytes), cycles_over(*many, bytes));
  const auto between = name_of(one.basic) + " -> " + name_of(one.more);
  const auto size = [](std::optional<double> meet, const char* none) {
    return meet ? table_entry(noted{*meet, "B"}) : missing{none};
  };
  const auto by_paper = ratio(paper, measured.at.for_good),
             refined_ratio = ratio(better_form, measured.at.for_good);
  t.add({form, between, one.of("V100", "synchronization"), one.of("P100", "synchronization"),
         sync ? table_entry(5 * *sync) : std::nullopt, one.of("V100", "switch point"),
         one.of("P100", "switch point"), size(measured.at.first, "never"),
         size(measured.at.for_good, "never"),
         measured.low ? table_entry(range{*measured.low, *measured.high}) : std::nullopt, size(paper, "-"),
         by_paper, size(better_form, "-"), refined_ratio});
  if (refined_ratio)
    c.push_back({fmt::format("{}, {}: refined form over measured", form, between), "1/1.3 to 1.3",
                 fmt::format("{:.2f}", *refined_ratio), *refined_ratio >= 1 / 1.3 && *refined_ratio <= 1.3});
  const auto told = [](const char* who, std::optional<double> bytes, std::optional<double> apart) {
    if (!bytes) return std::string();
    return fmt::format("; {} foretold {:.0f} B{}", who, *bytes,
                       apart ? fmt::format(", {:.2f} times that", *apart) : "");
  };
  if (measured.at.for_good)
    e.sentences.push_back(fmt::format("Sums in shared memory, {}: below {:.0f} B use {}, above {}{}{}.", form,
                                      *measured.at.for_good, name_of(one.basic), name_of(one.more),
                                      told("paper 000's model", paper, by_paper),
                                      told("the refined model", better_form, refined_ratio)));
}

void add_curves(const std::string& form, const measured_form& f, const steps& s, evaluation& e) {
  chart lines{{"model-" + form, "Sums in shared memory by 1, 32 and 1024 threads: " + form,
               "Cycles of a whole sum of doubles. Dashed: the refined form, of probes alone."},
              {"data (bytes)", true},
              {"time (cycles)", true},
              {}};
  for (const auto& [workers, sizes] : f.sums) {
    curve measured{name_of(workers), {}, false, false},
        foretold{name_of(workers) + ", foretold", {}, true, false};
    const auto model = refined(f, s, workers);
    for (const auto& [bytes, r] : sizes) {
      const auto& m = r->metrics.front();
      measured.points.push_back({bytes, m.median, m.ci95_low, m.ci95_high, {}, {}, short_key(r->point)});
      if (model) foretold.points.push_back({bytes, model->cycles(bytes), {}, {}, {}, {}, {}});
    }
    lines.curves.push_back(std::move(measured));
    if (model) lines.curves.push_back(std::move(foretold));
  }
  if (!lines.curves.empty()) e.figures.push_back(std::move(lines));
}

void add_table_v(std::span<const result> all, evaluation& e) {
  table t{{"table-v", "A warp's sum of 32 numbers in shared memory (000, table V)",
           "Cycles, by the SM's counter. A sum that is wrong has no rank."},
          {"way", "type", "V100 | >", "P100 | >", "here | .0f", "ci95 | .0f", "sum"}};
  for (const auto& way : warp_ways())
    for (const auto* r : where(all, is_measured_of("model"), is_subject("warp"), is_variant(way.name))) {
      const auto seen = r->number("seen"), expected = r->number("expected");
      t.add({way.name, way.probe->numbers, of_paper("table V", way.name, "V100", "latency"),
             of_paper("table V", way.name, "P100", "latency"), median_of(*r), ci95_of(first_metric(*r)),
             r->verdict.passed  ? "right"
             : seen && expected ? fmt::format("WRONG: {:g} in place of {:g}", *seen, *expected)
                                : "WRONG"});
    }
  e.add(std::move(t));
}

// Little's law foretells what more threads load: each has one load under way, which takes as long as a warp's
// alone, until shared memory gives all that it can.
void add_littles_law(const std::map<std::string, measured_form>& forms, expectations& c) {
  const auto found = forms.find("one-load");
  const double alone = found == forms.end() ? 0 : turn_latency(found->second, 32);
  if (alone <= 0) return;
  for (const auto& [workers, r] : found->second.loops) {
    const auto line = line_of(*r);
    if (workers == 32 || !line) continue;
    const double foretold = std::min(8.0 * workers / alone, most_bytes_per_cycle),
                 seen = 8.0 * workers / line->per_turn;
    add(c, fmt::format("Little's law: what {} load, one load at a time, by a warp's turn", name_of(workers)),
        "within 10 %", fmt::format("{:.2f} B/cycle foretold, {:.2f}", foretold, seen),
        is_within(seen, foretold, 0.1));
  }
}

void add_warp_claims(std::span<const result> all, expectations& c) {
  const auto ways = one_by(where(all, is_measured_of("model"), is_subject("warp")),
                           [](const result& r) { return r.point.variant; });
  const auto cycles = [&](const char* way) { return ways.contains(way) ? median_of(*ways.at(way)) : 0.0; };
  const double remade = cycles("coalesced-shuffle-remade"), serial = cycles("serial"), tile = cycles("tile"),
               volatile_ = cycles("volatile"), coalesced = cycles("coalesced"),
               shuffle = cycles("tile-shuffle"), full = cycles("coalesced-shuffle");
  if (ways.contains("nosync"))
    add(c, "without a barrier the sum is wrong", "wrong",
        ways.at("nosync")->verdict.passed ? "right" : "wrong", !ways.at("nosync")->verdict.passed);
  if (remade > 0 && serial > 0 && tile > 0 && volatile_ > 0 && coalesced > 0 && shuffle > 0) {
    const double most = std::max({tile, volatile_, coalesced}),
                 least = std::min({tile, volatile_, coalesced});
    add(c, "groups made anew > serial > volatile, tile, coalesced > tile shuffle", "in this order",
        fmt::format("{:.0f}, {:.0f}, {:.0f} to {:.0f}, {:.0f}", remade, serial, least, most, shuffle),
        remade > serial && serial > most && least > shuffle);
    add(c, "volatile and tile", "within 15 %", fmt::format("{:+.1f} %", 100 * (volatile_ / tile - 1)),
        std::abs(volatile_ / tile - 1) <= 0.15);
  }
  if (full > 0 && shuffle > 0)
    add(c, "a full coalesced group's shuffle over a tile's", "1.5", fmt::format("{:.2f}", full / shuffle),
        full <= 1.5 * shuffle);
}

// What other studies measured foretells of these sums: a load, a shuffle and a barrier of study levels, an
// addition of study verify.
void add_other_studies(std::span<const result> all, const std::map<std::string, measured_form>& forms,
                       const steps& s, expectations& c) {
  const auto of_levels = [&](const char* probe, unsigned threads) {
    return input_of(first(all, is_measured_of("levels"), is_subject(probe), has("quantity", "latency"),
                          [threads](const result& r) {
                            return r.point.number(axes::threads_per_block) == threads &&
                                   r.point.word("left_free").empty();
                          }),
                    fmt::format("study levels' {}", probe));
  };
  const auto load = of_levels("shared_chase", 32), shuffle = of_levels("shuffle_64_bits", 32),
             add_64 = input_of(first(all, is_measured_of("verify"), is_subject("fp64_add"),
                                     has("form", "unrolled"), has("clock", "device")),
                               "study verify's fp64_add");
  const auto here = [](std::optional<double> value, const char* what) {
    return input{value, value ? "" : std::string(what) + " was not measured"};
  };
  const auto compared = [&](const char* what, const char* how, double share, std::vector<input> of,
                            double (*foretell)(std::span<const double>)) {
    if (std::ranges::any_of(of, [](const input& i) { return !i.value; })) return;
    expect(c, what, how, of, [share, foretell](std::span<const double> v) {
      const double foretold = foretell(v.subspan(1));
      return judgement{fmt::format("{:.1f} cycles foretold, {:.1f}", foretold, v[0]),
                       is_within(v[0], foretold, share)};
    });
  };
  const auto way = first(all, is_measured_of("model"), is_subject("warp"), is_variant("tile-shuffle"));
  compared("the block barrier of 1024 threads, by study levels", "within 2 %", 0.02,
           {here(s.barrier_alone, "the barrier alone"), of_levels("block_sync", 1024)},
           [](std::span<const double> v) { return v[0]; });
  compared("a shuffle of 64 bits, by study levels", "within 2 %", 0.02,
           {here(s.shuffle_alone, "the shuffle alone"), shuffle},
           [](std::span<const double> v) { return v[0]; });
  compared("a step of shuffle and addition, by studies levels and verify", "within 10 %", 0.1,
           {here(s.shuffle, "the step"), shuffle, add_64},
           [](std::span<const double> v) { return v[0] + v[1]; });
  compared("a warp's sum by shuffles: a load and five such steps", "within 15 %", 0.15,
           {input_of(way, "the tile's shuffle"), load, shuffle, add_64},
           [](std::span<const double> v) { return v[0] + 5 * (v[1] + v[2]); });
  const auto one = forms.find("one-load");
  const double turn = one == forms.end() ? 0 : turn_latency(one->second, 32);
  compared("a warp's turn of one load at a time: a load and an addition", "within 15 %", 0.15,
           {here(turn > 0 ? std::optional(turn) : std::nullopt, "the loop"), load, add_64},
           [](std::span<const double> v) { return v[0] + v[1]; });
}

}  // namespace

std::optional<turns_line> line_of(const result& r) {
  const auto line = fit_of(r);
  return line && line->holds ? std::optional(turns_line{line->fit.slope, line->fit.offset}) : std::nullopt;
}

double refined_configuration::cycles(double bytes) const {
  const double turns = std::ceil(bytes / 8 / workers);
  return loop.entering + loop.per_turn * turns + joining;
}

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  const auto forms = forms_of(all);
  const auto s = steps_of(all);
  add_table_iii(forms, e);
  table iv{{"table-iv", "From which size on more threads pay (000, table IV)",
            "Lat_sync: five shuffles, five barriers of the block, in cycles. For good: from there on more "
            "threads are never slower; its range over batches. Ratio: foretold over measured."},
           {"loop", "between", "Lat_sync V100 | >", "P100 | >", "here | .0f", "point V100 | >", "P100 | >",
            "first | .0f", "for good | .0f", "range | .0f", "paper's form | .0f", "ratio | .2f",
            "refined | .0f", "ratio | .2f"}};
  expectations c;
  for (const auto& [form, f] : forms) {
    for (const auto& one : switches) add_switch(form, f, s, one, iv, e, c);
    add_curves(form, f, s, e);
  }
  e.add(std::move(iv));
  add_joining(s, e);
  add_littles_law(forms, c);
  add_table_v(all, e);
  add_warp_claims(all, c);
  add_other_studies(all, forms, s, c);
  e.add({"model-claims", "What the model and a warp's sums must hold"}, std::move(c));
  add_wider_switches(all, e);
  return e;
}

}  // namespace mgsync::model
