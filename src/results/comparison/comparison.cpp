#include "src/results/comparison/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "src/results/comparison/shift_interval.hpp"
#include "src/results/frame/results_table.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

constexpr double wanted_confidence = 0.95;

using medians_of_batches = std::vector<double>;

struct side_of_a_point {
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
  bool orders_less = false;                      // than a barrier
  std::vector<doubt> doubts;
};

struct side {
  std::vector<std::string> order;  // of the keys
  std::map<std::string, side_of_a_point> points;
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
  into.orders_less = into.orders_less || one.orders_less();
  into.checked = into.checked && one.verdict.passed;
  into.refuted = into.refuted || (one.verdict.kind != verdict_kind::unchecked && !one.verdict.passed);
  add_doubts(into.doubts, one.doubts);
  into.cut_short = into.cut_short || one.status == result_status::interrupted;
}

bool has_numbers(const result& one) {
  return (one.status == result_status::measured || one.status == result_status::interrupted) &&
         one.has_metrics() && !one.metrics.front().raw.empty();
}

side side_of(std::span<const json_document> documents, const std::vector<std::string>& reference) {
  side all;
  for (const json_document& document : documents) {
    std::map<std::string, std::map<std::string, medians_of_batches>> here;
    for (const result& one : document.results) {
      const std::string key = pairing_key(one.point, document.machine, reference);
      auto [found, fresh] = all.points.try_emplace(key);
      side_of_a_point& point = found->second;
      if (fresh) {
        all.order.push_back(key);
        point.point = &one.point;
      }
      if (has_numbers(one)) {
        take(point, here[key], one);
        continue;
      }
      point.was_lost = true;
      if (point.status != result_status::failed) point.status = one.status;
      point.reason = one.status == result_status::measured ? "its values are missing" : one.reason;
    }
    for (auto& [key, metrics] : here)
      for (auto& [name, medians] : metrics) all.points[key].processes[name].push_back(std::move(medians));
  }
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
  out.decides = measured.name == base.metrics.front().name;
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
  const shift_interval shift = shift_between(logarithms(was), logarithms(is), wanted_confidence);
  out.ratio = std::exp(shift.estimate);
  out.low = std::exp(shift.low) / (1 + out.margin);
  out.high = std::exp(shift.high) * (1 + out.margin);
  if (shift.confidence < wanted_confidence) out.what = change::too_few;
  else if (out.low > 1) out.what = measured.better == better::less ? change::worse : change::improved;
  else if (out.high < 1) out.what = measured.better == better::less ? change::improved : change::worse;
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
  for (const metric_name& one : before.metrics) {
    const auto found = std::ranges::find(after.metrics, one.name, &metric_name::name);
    if (found == after.metrics.end())
      out.lost.push_back({*before.point, fmt::format("it has no {}", one.name), result_status::measured});
    else if (!alike(one, *found))
      out.lost.push_back(
          {*before.point,
           fmt::format("its {} is in {}, and was in {}", one.name, unit_of(*found), unit_of(one)),
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

comparison compare(std::span<const json_document> base, std::span<const json_document> now,
                   std::optional<double> noise) {
  const auto reference = base.empty() ? std::vector<std::string>{} : base.front().machine.hosts;
  const side was = side_of(base, reference), is = side_of(now, reference);
  comparison out;
  for (const std::string& key : was.order) {
    const side_of_a_point& before = was.points.at(key);
    if (before.processes.empty()) continue;
    const auto found = is.points.find(key);
    if (found == is.points.end()) {
      out.only_base.push_back(*before.point);
      continue;
    }
    const side_of_a_point& after = found->second;
    // A barrier that failed in one of several processes is no barrier, however fast the others were.
    find_lost(before, after, out);
    for (const metric_name& one : before.metrics)
      if (const auto same = std::ranges::find(after.metrics, one.name, &metric_name::name);
          same != after.metrics.end() && alike(one, *same))
        out.points.push_back(compare_point(before, after, one, noise));
  }
  for (const std::string& key : is.order) {
    if (is.points.at(key).processes.empty()) continue;
    const auto found = was.points.find(key);
    if (found == was.points.end() || found->second.processes.empty())
      out.only_new.push_back(*is.points.at(key).point);
  }
  return out;
}

std::vector<std::string> gate_violations(const comparison& compared, const gate& asked) {
  std::vector<std::string> sentences;
  for (const compared_point& one : compared.points)
    if (one.what == change::worse && one.times_worse() > 1 + asked.limit)
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
    if (one.what == change::too_few && !(times <= 1 + asked.limit))
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
  std::vector<std::string> sentences;
  for (const auto& [side, doubts] :
       {std::pair{"BASE", &compared_point::base_doubts}, std::pair{"NEW", &compared_point::new_doubts}}) {
    std::map<std::string, std::vector<doubt>> by_point;  // a point has a row for each of its metrics
    for (const compared_point& one : compared.points) by_point[canonical_text(one.point)] = one.*doubts;
    std::vector<std::vector<doubt>> points;
    for (auto& [key, all] : by_point) points.push_back(std::move(all));
    if (const auto summary = summary_of(points); !summary.empty())
      sentences.push_back(fmt::format("{}: {}", side, summary));
  }
  return sentences;
}

std::size_t undecided(const comparison& compared, double limit) {
  return static_cast<std::size_t>(
      std::count_if(compared.points.begin(), compared.points.end(), [&](const auto& one) {
        return one.what == change::not_shown && one.at_worst() > 1 + limit;
      }));
}

}  // namespace mgsync
