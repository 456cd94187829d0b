#include "src/results/comparison/reference_spread.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <boost/math/distributions/students_t.hpp>

namespace mgsync {
namespace {

// What describes a point but where its members are.
std::string key_anywhere(point p) {
  p.group.clear();
  p.node.clear();
  p.placement = "near";
  return canonical_text(p);
}

bool has_time(const result& r) {
  if (r.status != result_status::measured || !r.has_metrics()) return false;
  const auto& first = r.metrics.front();
  const bool checked = r.verdict.kind == verdict_kind::unchecked || r.verdict.passed;
  return checked && is_a_time(first) && first.better == better::less && first.median > 0;
}

void settle(reference_point& one) {
  const auto count = static_cast<double>(one.processes.size());
  double mean = 0, squares = 0;
  for (const double median : one.processes) mean += std::log(median) / count;
  for (const double median : one.processes) squares += std::pow(std::log(median) - mean, 2);
  one.centre = std::exp(mean);
  one.freedom = assumed_weight + count - 1;
  const double assumed =
      is_driven_by_host(one.point, one.facts) ? assumed_deviation_of_the_host : assumed_deviation;
  one.deviation = std::sqrt((assumed_weight * assumed * assumed + squares) / one.freedom);
}

}  // namespace

reference_spread::reference_spread(std::span<const json_document> documents) {
  for (const auto& document : documents)
    for (const auto& r : document.results) {
      if (!has_time(r)) continue;
      if (r.metrics.front().of_one_batch()) {
        of_one_batch_.push_back(r.point);
        continue;
      }
      seen_.push_back({r.point, r.doubts});
      if (!r.doubts.empty()) continue;
      const auto [at, fresh] = places_.try_emplace(key_anywhere(r.point), points_.size());
      if (fresh) points_.push_back({r.point, r.metrics.front(), r.facts, {}});
      auto& into = points_[at->second].processes;
      const auto& metric = r.metrics.front();
      // Of a file of several processes a unit is one of them, not a batch.
      if (document.settings.contains("processes"))
        into.insert(into.end(), metric.raw.begin(), metric.raw.end());
      else into.push_back(metric.median);
    }
  std::ranges::for_each(points_, settle);
}

const reference_point* reference_spread::find(const point& p) const {
  const auto found = places_.find(key_anywhere(p));
  return found == places_.end() ? nullptr : &points_[found->second];
}

static bool is_of_a_node(const point& p, topology::device device) {
  return p.device == device && p.ranks == 1 && p.study == default_study;
}

std::string left_out(const reference_spread& known, topology::device device, int members) {
  std::vector<std::vector<doubt>> values;
  for (const auto& [p, doubts] : known.seen())
    if (is_of_a_node(p, device) &&
        (p.members == members || (device == topology::device::gpu && p.members <= 2)))
      values.push_back(doubts);
  return summary_of(values);
}

std::size_t count_of_one_batch(const reference_spread& known, topology::device device) {
  return static_cast<std::size_t>(
      std::ranges::count_if(known.of_one_batch(), [&](const point& p) { return is_of_a_node(p, device); }));
}

int most_host_members(const reference_spread& known, std::size_t cpus) {
  int most = 0;
  for (const auto& [p, doubts] : known.seen())
    if (is_of_a_node(p, topology::device::host) && std::cmp_less_equal(p.members, cpus))
      most = std::max(most, p.members);
  return most;
}

double limit_of(const reference_point& one, std::size_t judged) {
  const double tail = false_alarms / static_cast<double>(std::max<std::size_t>(judged, 1));
  const auto count = static_cast<double>(one.processes.size());
  const boost::math::students_t student(one.freedom);
  return std::exp(boost::math::quantile(boost::math::complement(student, tail)) * one.deviation *
                  std::sqrt(1 + 1 / count));
}

}  // namespace mgsync
