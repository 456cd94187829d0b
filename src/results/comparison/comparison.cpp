#include "src/results/comparison/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/comparison/shift_interval.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/results_table.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

constexpr double wanted_confidence = 0.95;

using medians_of_batches = std::vector<double>;

// What one side says of a point.
struct side_of_a_point {
  std::string key;  // the same on both sides
  const mgsync::point* point = nullptr;
  std::vector<metric_name> metrics;
  std::map<std::string, std::vector<medians_of_batches>> processes;  // of each metric
  std::string algorithm;                                             // of the last file that has a value
  bool checked = true;                                               // all of them were
  std::string mixed;       // the name of a metric that its files have in different units
  bool refuted = false;    // one of them did not pass its check
  bool cut_short = false;  // one of them was interrupted
  std::string reason;      // of the last file that has no value
  result_status status = result_status::waived;  // the worst status without a value
  bool was_lost = false;                         // one of them has no value
  bool by_host = false;                          // what it measures on GPUs launches kernels
  bool orders_less = false;                      // than a barrier
  bool orders_inside_nodes = false;
  std::vector<doubt> doubts;

  bool has_values() const { return !processes.empty(); }
};

// The node to compare with: the one of the same name or, on other hosts, the one at the same position in the
// job.
std::string paired_node(const std::string& node, const std::vector<std::string>& hosts,
                        const std::vector<std::string>& reference) {
  if (node.empty() || std::find(reference.begin(), reference.end(), node) != reference.end()) return node;
  const auto place = static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), node) - hosts.begin());
  return place < reference.size() ? reference[place] : node;
}

std::string pairing_key(const point& one, const machine_record& machine,
                        const std::vector<std::string>& reference) {
  point paired = one;
  paired.node = paired_node(one.node, machine.hosts, reference);
  if (!paired.placement.starts_with("list:")) paired.group.clear();
  return canonical_text(paired);
}

// Whether two metrics of one name have the same unit and direction, so that their values can be compared.
bool alike(const metric_name& a, const metric_name& b) { return a.unit == b.unit && a.better == b.better; }

// Of a metric of which no value is better than another, a change is neither a gain nor a loss.
bool is_compared(const metric_name& one) { return one.better != better::neither; }

void take(side_of_a_point& into, std::map<std::string, medians_of_batches>& here, const result& one) {
  for (const metric& each : one.metrics) {
    const auto known = std::ranges::find(into.metrics, each.name, &metric_name::name);
    if (known == into.metrics.end()) into.metrics.push_back(each);
    else if (!alike(*known, each)) {
      into.mixed = each.name;
      continue;
    }
    here[each.name].insert(here[each.name].end(), each.raw.begin(), each.raw.end());
  }
  into.algorithm = one.found("algorithm").substr(0, one.found("algorithm").find(':'));
  into.by_host = into.by_host || one.is_driven_by_host();
  into.orders_less = into.orders_less || one.orders_less();
  into.orders_inside_nodes = into.orders_inside_nodes || one.orders_inside_nodes();
  into.checked = into.checked && one.verdict.passed;
  into.refuted = into.refuted || (one.verdict.kind != verdict_kind::unchecked && !one.verdict.passed);
  add_doubts(into.doubts, one.doubts);
  into.cut_short = into.cut_short || one.status == result_status::interrupted;
}

bool has_numbers(const result& one) {
  return (one.status == result_status::measured || one.status == result_status::interrupted) &&
         one.has_metrics() && !one.metrics.front().raw.empty();
}

struct row {
  std::string key;
  const json_document* document;
  const result* of;
};

side_of_a_point side_of(const std::string& key, const frame<row>& rows) {
  side_of_a_point made;
  made.key = key;
  made.point = &rows.front()->of->point;
  for (const auto& [document, here] : by(rows, &row::document)) {
    std::map<std::string, medians_of_batches> process;
    for (const auto* each : here) {
      const result& one = *each->of;
      if (has_numbers(one)) {
        take(made, process, one);
        continue;
      }
      made.was_lost = true;
      if (made.status != result_status::failed) made.status = one.status;
      made.reason = why_not(one);
    }
    for (auto& [name, medians] : process) made.processes[name].push_back(std::move(medians));
  }
  return made;
}

// The points of one side, in the order of its documents.
std::vector<side_of_a_point> side_of(std::span<const json_document> documents,
                                     const std::vector<std::string>& reference) {
  std::vector<row> rows;
  for (const json_document& each : documents)
    for (const result& one : each.results)
      rows.push_back({pairing_key(one.point, each.machine, reference), &each, &one});
  std::vector<side_of_a_point> all;
  for (const auto& [key, of_point] : groups(rows, &row::key)) all.push_back(side_of(key, of_point));
  return all;
}

std::vector<double> medians_of(const std::vector<std::vector<double>>& processes) {
  std::vector<double> medians;
  for (const auto& batches : processes) medians.push_back(median(batches));
  return medians;
}

std::vector<double> joined(const std::vector<std::vector<double>>& processes) {
  std::vector<double> all;
  for (const auto& batches : processes) all.insert(all.end(), batches.begin(), batches.end());
  return all;
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0 && std::isfinite(v); });
}

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

compared_point compare_point(const side_of_a_point& base, const side_of_a_point& now,
                             const metric_name& measured, std::optional<double> noise) {
  const auto &before = base.processes.at(measured.name), &after = now.processes.at(measured.name);
  compared_point out;
  out.point = *base.point;
  out.measured = measured;
  out.by_process = best_confidence(before.size(), after.size()) >= wanted_confidence;
  out.margin = noise.value_or(out.by_process ? 0 : default_noise);
  const auto was = out.by_process ? medians_of(before) : joined(before);
  const auto is = out.by_process ? medians_of(after) : joined(after);
  out.base_doubts = base.doubts;
  out.new_doubts = now.doubts;
  out.base_median = median(was);
  out.new_median = median(is);
  if (base.algorithm != now.algorithm)
    out.notes.push_back(fmt::format("ran {}, was {}",
                                    now.algorithm.empty() ? "another algorithm" : now.algorithm,
                                    base.algorithm.empty() ? "unknown" : base.algorithm));
  if (base.orders_less || now.orders_less) out.notes.emplace_back("orders less than a barrier");
  if (base.orders_inside_nodes || now.orders_inside_nodes) out.notes.emplace_back("memory inside nodes");
  out.decides = measured.name == base.metrics.front().name;
  if (now.by_host && !out.by_process) out.apart = most_between_runs_of_the_host;
  if (base.checked && !now.checked) {
    out.notes.push_back(now.refuted ? "FAIL in NEW" : "unchecked in NEW");
    out.void_because =
        now.refuted ? "did not pass its check in NEW" : "is unchecked in NEW, and was checked in BASE";
  }
  if (now.cut_short) out.notes.push_back("cut short in NEW");
  if (!base.doubts.empty() || !now.doubts.empty())
    out.notes.push_back(fmt::format("means little{}", base.doubts.empty()  ? " in NEW"
                                                      : now.doubts.empty() ? " in BASE"
                                                                           : ""));
  if (!all_positive(was) || !all_positive(is)) {
    out.what = out.base_median > 0 && out.new_median > 0 ? change::too_few : change::no_ratio;
    return out;
  }
  out.base_values = was;
  out.new_values = is;
  const shift_interval shift = shift_between(logarithms(was), logarithms(is), wanted_confidence);
  out.ratio = std::exp(shift.estimate);
  out.low = std::exp(shift.low) / (1 + out.margin);
  out.high = std::exp(shift.high) * (1 + out.margin);
  if (shift.confidence < wanted_confidence) out.what = change::too_few;
  else if (out.low > 1) out.what = measured.better == better::less ? change::worse : change::improved;
  else if (out.high < 1) out.what = measured.better == better::less ? change::improved : change::worse;
  if (out.apart > 0 && (out.what == change::worse || out.what == change::improved))
    out.notes.push_back(fmt::format("driven by the host: runs of one build differ by 10 to {:.0f} %",
                                    100 * most_between_runs_of_the_host));
  return out;
}

// The point's name, with the metric where it is not the latency of a barrier.
std::string name_of(const compared_point& one) {
  return name_of(one.point) + (one.measured.name == "latency" ? "" : ", " + one.measured.name);
}

std::string unit_of(const metric_name& one) {
  return fmt::format("'{}'{}", one.unit, one.better == better::less ? "" : " (more is better)");
}

// Adds to out.lost what BASE measured of a point and NEW has no value of.
void find_lost(const side_of_a_point& before, const side_of_a_point& after, comparison& out) {
  if (after.processes.empty() || (after.was_lost && after.status == result_status::failed)) {
    out.lost.push_back({*before.point, after.reason, after.status});
    return;
  }
  for (const auto* side : {&before, &after})
    if (!side->mixed.empty())
      out.lost.push_back({*before.point,
                          fmt::format("its {} is in different units in files of one side", side->mixed),
                          result_status::measured});
  for (const auto* one : where(before.metrics, is_compared)) {
    const auto* found = first(after.metrics, [&](const auto& m) { return m.name == one->name; });
    if (found == nullptr)
      out.lost.push_back({*before.point, fmt::format("it has no {}", one->name), result_status::measured});
    else if (!alike(*one, *found))
      out.lost.push_back(
          {*before.point,
           fmt::format("its {} is in {}, and was in {}", one->name, unit_of(*found), unit_of(*one)),
           result_status::measured});
  }
}

}  // namespace

std::string_view word_of(change what, const metric_name& of) {
  switch (what) {
  case change::worse: return is_a_time(of) ? "slower" : "worse";
  case change::improved: return is_a_time(of) ? "faster" : "better";
  case change::not_shown: return "no difference shown";
  case change::too_few: return "too few batches";
  case change::no_ratio: return "not above 0";
  }
  return "";
}

bool are_of_one_run(const json_document& a, const json_document& b) {
  const bool alike = a.started == b.started && a.seed == b.seed && a.machine.mgsync == b.machine.mgsync;
  // Whole cycles come out alike in every run: three different ones of a point do not in the same order.
  const auto is_telling = [alike](const result& r) {
    if (!r.has_metrics()) return false;
    const auto& raw = r.metrics.front().raw;
    return alike || std::set<double>(raw.begin(), raw.end()).size() > 2;
  };
  std::set<std::vector<double>> measured;
  for (const auto* r : where(a.results, is_telling)) measured.insert(r->metrics.front().raw);
  const auto of_b = where(b.results, is_telling);
  const auto both =
      where(of_b, [&](const result& r) { return measured.contains(r.metrics.front().raw); }).size();
  if (alike) return both > 0;
  // A file that others were merged into has the start and the seed of one of them.
  return both > 1 && 2 * both >= std::min(measured.size(), of_b.size());
}

comparison compare(std::span<const json_document> base, std::span<const json_document> now,
                   std::optional<double> noise) {
  const auto reference = base.empty() ? std::vector<std::string>{} : base.front().machine.hosts;
  const auto was = side_of(base, reference), is = side_of(now, reference);
  const auto pairs = join(where(was, &side_of_a_point::has_values), is, &side_of_a_point::key);
  comparison out;
  for (const auto* one : pairs.left) out.only_base.push_back(*one->point);
  for (const auto* one : where(pairs.right, &side_of_a_point::has_values))
    out.only_new.push_back(*one->point);
  for (const auto& [before, after] : pairs.both) {
    // A barrier that failed in one of several processes is no barrier, however fast the others were.
    find_lost(*before, *after, out);
    for (const auto* one : where(before->metrics, is_compared))
      if (const auto* same = first(after->metrics, [&](const auto& m) { return m.name == one->name; });
          same != nullptr && alike(*one, *same))
        out.points.push_back(compare_point(*before, *after, *one, noise));
  }
  return out;
}

std::vector<std::string> gate_violations(const comparison& compared, const gate& asked) {
  std::vector<std::string> sentences;
  for (const compared_point& one : compared.points)
    if (one.what == change::worse && one.times_worse() > 1 + std::max(asked.limit, one.apart))
      sentences.push_back(fmt::format("{}: {} {:.3f} times {} ({:.3f}..{:.3f})", name_of(one),
                                      is_a_time(one.measured) ? "takes" : "has", one.ratio,
                                      is_a_time(one.measured) ? "as long" : "as much", one.low, one.high));
  for (const compared_point& one : compared.points) {
    if (one.decides && !one.void_because.empty())
      sentences.push_back(fmt::format("{}: {}", name_of(one), one.void_because));
    if (one.decides && one.what == change::no_ratio)
      sentences.push_back(fmt::format(
          "{}: {} {}, was {} {}: what is 0 or below is no measurement that a share could be taken of",
          name_of(one), format_number(one.new_median), one.measured.unit, format_number(one.base_median),
          one.measured.unit));
    const double times = one.measured.better == better::less ? one.new_median / one.base_median
                                                             : one.base_median / one.new_median;
    if (one.what == change::too_few && !(times <= 1 + std::max(asked.limit, one.apart)))
      sentences.push_back(
          fmt::format("{}: {} {}, was {} {}, and too few batches to tell: a longer --max-time gives more",
                      name_of(one), format_number(one.new_median), one.measured.unit,
                      format_number(one.base_median), one.measured.unit));
  }
  for (const lost_point& one : compared.lost)
    sentences.push_back(fmt::format("{}: {} in NEW: {}", name_of(one.point),
                                    one.status == result_status::failed ? "failed" : "not measured",
                                    one.reason));
  if (!asked.allow_missing)
    for (const point& one : compared.only_base)
      sentences.push_back(fmt::format("{}: not in NEW (--allow-missing lets that through)", name_of(one)));
  return sentences;
}

std::vector<std::string> doubtful_sides(const comparison& compared) {
  // A point has a row for each of its metrics.
  const auto point_of = [](const compared_point& one) { return canonical_text(one.point); };
  std::vector<std::string> sentences;
  for (const auto& [side, doubts] :
       {std::pair{"BASE", &compared_point::base_doubts}, std::pair{"NEW", &compared_point::new_doubts}}) {
    std::vector<std::vector<doubt>> points;
    for (const auto& [key, one] : one_by(compared.points, point_of)) points.push_back(one->*doubts);
    if (const auto summary = summary_of(points); !summary.empty())
      sentences.push_back(fmt::format("{}: {}", side, summary));
  }
  return sentences;
}

std::size_t worse_by_chance(const comparison& compared, double limit) {
  return where(compared.points, [&](const auto& one) { return one.is_worse_by_chance(limit); }).size();
}

std::string words_by_chance(std::size_t count) {
  return fmt::format("{} driven by the host {} worse by less than runs of one build may differ by ({:.0f} %)",
                     counted(count, "point"), count == 1 ? "is" : "are", 100 * most_between_runs_of_the_host);
}

std::size_t undecided(const comparison& compared, double limit) {
  return where(compared.points,
               [&](const auto& one) { return one.what == change::not_shown && one.at_worst() > 1 + limit; })
      .size();
}

}  // namespace mgsync
