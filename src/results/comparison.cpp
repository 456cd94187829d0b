#include "src/results/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "src/results/result_json.hpp"
#include "src/results/shift_interval.hpp"
#include "src/results/statistics.hpp"
#include "src/results/table.hpp"

namespace mgsync {
namespace {

constexpr double wanted_confidence = 0.95;

struct side_of_a_point {
  const mgsync::point* point = nullptr;
  std::vector<std::vector<double>> processes;  // medians of the batches of each
  std::string algorithm;                       // of the last that has a latency
  bool checked = true;                         // all of them were
  std::string reason;                          // of the last that has no latency
  bool failed = false;
};

struct side {
  std::vector<std::string> order;  // of the keys
  std::map<std::string, side_of_a_point> points;
};

// A node is the one of the same name, or, on other hosts, the one at the same place in the job.
std::string paired_node(const std::string& node, const std::vector<std::string>& hosts,
                        const std::vector<std::string>& reference) {
  if (node.empty() || std::find(reference.begin(), reference.end(), node) != reference.end()) return node;
  const auto place = static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), node) - hosts.begin());
  return place < reference.size() ? reference[place] : node;
}

std::string pairing_key(const point& one, const machine_record& machine, const std::vector<std::string>& reference) {
  point paired = one;
  paired.node = paired_node(one.node, machine.hosts, reference);
  if (!paired.placement.starts_with("list:")) paired.group.clear();
  return canonical_key(paired);
}

side side_of(std::span<const json_document> documents, const std::vector<std::string>& reference) {
  side all;
  for (const json_document& document : documents) {
    std::map<std::string, std::vector<double>> here;
    for (const result& one : document.results) {
      const std::string key = pairing_key(one.point, document.machine, reference);
      auto [found, fresh] = all.points.try_emplace(key);
      if (fresh) {
        all.order.push_back(key);
        found->second.point = &one.point;
      }
      if (one.status == result_status::measured && !one.samples.empty()) {
        const auto medians = batch_medians(one.samples);
        here[key].insert(here[key].end(), medians.begin(), medians.end());
        found->second.algorithm = one.algorithm.substr(0, one.algorithm.find(':'));
        found->second.checked = found->second.checked && is_checked(one.check);
        continue;
      }
      found->second.failed = found->second.failed || one.status == result_status::failed;
      found->second.reason = one.status == result_status::measured ? "its samples are missing" : one.reason;
    }
    for (auto& [key, medians] : here) all.points[key].processes.push_back(std::move(medians));
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

compared_point compare_point(const side_of_a_point& base, const side_of_a_point& now, std::optional<double> noise) {
  compared_point out;
  out.point = *base.point;
  out.by_process = best_confidence(base.processes.size(), now.processes.size()) >= wanted_confidence;
  out.margin = noise.value_or(out.by_process ? 0 : default_noise);
  const auto was = out.by_process ? medians_of(base.processes) : joined(base.processes);
  const auto is = out.by_process ? medians_of(now.processes) : joined(now.processes);
  out.base_us = median(was);
  out.new_us = median(is);
  if (base.algorithm != now.algorithm)
    out.notes.push_back(fmt::format("ran {}, was {}", now.algorithm.empty() ? "another algorithm" : now.algorithm,
                                    base.algorithm.empty() ? "unknown" : base.algorithm));
  if (base.checked && !now.checked) out.notes.push_back("unchecked in NEW");
  if (!all_positive(was) || !all_positive(is)) {
    out.what = change::too_few;
    return out;
  }
  const shift_interval shift = shift_between(logarithms(was), logarithms(is), wanted_confidence);
  out.ratio = std::exp(shift.estimate);
  out.low = std::exp(shift.low) / (1 + out.margin);
  out.high = std::exp(shift.high) * (1 + out.margin);
  if (shift.confidence < wanted_confidence)
    out.what = change::too_few;
  else if (out.low > 1)
    out.what = change::slower;
  else if (out.high < 1)
    out.what = change::faster;
  return out;
}

std::string name_of(const point& one) {
  return fmt::format("{}:{}, {} member{} in {} rank{}, shape {}{}", one.backend, one.variant,
                     one.members, one.members == 1 ? "" : "s", one.ranks, one.ranks == 1 ? "" : "s", format_shape(one),
                     one.node.empty() ? "" : ", on " + one.node);
}

}  // namespace

std::string_view to_string(change what) {
  switch (what) {
    case change::slower: return "slower";
    case change::faster: return "faster";
    case change::not_shown: return "no difference shown";
    case change::too_few: return "too few batches";
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
    if (after.failed || after.processes.empty()) out.lost.push_back({*before.point, after.reason, after.failed});
    if (!after.processes.empty()) out.points.push_back(compare_point(before, after, noise));
  }
  for (const std::string& key : is.order) {
    if (is.points.at(key).processes.empty()) continue;
    const auto found = was.points.find(key);
    if (found == was.points.end() || found->second.processes.empty()) out.only_new.push_back(*is.points.at(key).point);
  }
  return out;
}

std::vector<std::string> gate_violations(const comparison& compared, double limit) {
  std::vector<std::string> sentences;
  for (const compared_point& one : compared.points)
    if (one.what == change::slower && one.ratio > 1 + limit)
      sentences.push_back(fmt::format("{}: takes {:.3f} times as long ({:.3f}..{:.3f})", name_of(one.point), one.ratio,
                                      one.low, one.high));
  for (const compared_point& one : compared.points)
    if (one.what == change::too_few && !(one.new_us <= one.base_us * (1 + limit)))
      sentences.push_back(fmt::format("{}: {} us, was {} us, and too few batches to tell: a longer --max-time gives more",
                                      name_of(one.point), format_us(one.new_us), format_us(one.base_us)));
  for (const lost_point& one : compared.lost)
    sentences.push_back(fmt::format("{}: {} in NEW: {}", name_of(one.point), one.failed ? "failed" : "not measured",
                                    one.reason));
  return sentences;
}

std::size_t undecided(const comparison& compared, double limit) {
  return static_cast<std::size_t>(std::count_if(compared.points.begin(), compared.points.end(), [&](const auto& one) {
    return one.what == change::not_shown && one.high > 1 + limit;
  }));
}

}  // namespace mgsync
