#include "src/results/comparison/fleet_analysis.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <fmt/format.h>

#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

constexpr double least_deviation = 0.005;

double middle(std::vector<float>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Half of the values are within the median deviation; of tails that are heavier than a Gaussian's the 95 %
// point counts.
double deviation_of(std::vector<float> off) {
  for (auto& one : off) one = std::abs(one);
  const double half = middle(off) * 1.4826;
  const auto at = off.begin() + static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(off.size() - 1));
  std::nth_element(off.begin(), at, off.end());
  return std::max({half, *at / 1.96, least_deviation});
}

}  // namespace

fleet_analysis::fleet_analysis(const fleet& all) : all_(all) {
  find_latest();
  find_usual();
  for (std::size_t i = 0; i < all_.runs().size(); ++i) judge_run(i);
  find_drifts();
}

void fleet_analysis::find_latest() {
  for (std::size_t i = 0; i < all_.runs().size(); ++i) by_node_[all_.runs()[i].node].push_back(i);
  for (auto& [node, runs] : by_node_)
    std::ranges::stable_sort(runs, {}, [&](std::size_t i) { return all_.runs()[i].started; });
}

void fleet_analysis::find_usual() {
  std::vector<std::vector<float>> values(all_.kinds().size());
  std::vector<std::map<std::string, std::vector<float>>> of_day(all_.kinds().size());
  for (const auto& run : all_.runs())
    for (const auto& v : run.values) {
      values[v.kind].push_back(v.log_us);
      of_day[v.kind][run.day()].push_back(v.log_us);
    }
  usual_.resize(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    auto& u = usual_[k];
    u.values = values[k].size();
    auto copy = values[k];
    u.centre = middle(copy);
    std::vector<float> off;
    for (auto& [day, some] : of_day[k]) {
      if (some.size() >= values_of_a_day) u.of_day[day] = middle(some);
      for (const float one : some) off.push_back(static_cast<float>(one - u.at(day)));
    }
    const boost::math::normal gauss;
    const double tail = false_alarms / static_cast<double>(std::max<std::size_t>(u.values, 20));
    u.limit = boost::math::quantile(boost::math::complement(gauss, tail)) * deviation_of(std::move(off));
  }
}

void fleet_analysis::find_drifts() {
  series_of_nodes all;
  for (const auto& run : all_.runs()) {
    std::vector<double> off;
    for (const auto& v : run.values) off.push_back(v.log_us - usual_[v.kind].centre);
    if (!off.empty()) all[run.node][run.day()].push_back(median(off));
  }
  drifts_ = drifts_of(all);
}

judged_point fleet_analysis::judged(const fleet_value& v, const std::string& day) const {
  const auto& kind = all_.kinds()[v.kind];
  judged_point p;
  p.subject = kind.subject, p.shape = kind.shape, p.together = kind.together;
  for (const int gpu : {v.first, v.second})
    if (gpu >= 0) p.members.push_back(gpu);
  if (v.first == fleet_value::all_gpus)
    for (int gpu = 0; gpu < kind.together; ++gpu) p.members.push_back(gpu);
  p.part = p.members.size() == 1   ? fmt::format("GPU {}", v.first)
           : p.members.size() == 2 ? fmt::format("GPUs {} and {}", v.first, v.second)
           : p.members.empty()     ? fmt::format("all {} host members", kind.together)
                                   : fmt::format("all {} GPUs", kind.together);
  p.times = std::exp(v.log_us - usual_[v.kind].at(day));
  p.limit = std::exp(usual_[v.kind].limit);
  p.state = p.times > p.limit ? judged_state::slow : judged_state::ok;
  return p;
}

void fleet_analysis::judge_run(std::size_t i) {
  const auto& run = all_.runs()[i];
  std::vector<judged_point> points;
  bool slow = false;
  for (const auto& v : run.values) {
    points.push_back(judged(v, run.day()));
    slow = slow || points.back().state == judged_state::slow;
  }
  if (!slow) return;
  for (auto& s : suspects_of(points)) {
    const auto same = [&](const fleet_outlier& o) { return o.node == run.node && o.what.part == s.part; };
    auto at = std::ranges::find_if(outliers_, same);
    if (at == outliers_.end()) at = outliers_.insert(at, {run.node, s, {}});
    if (s.times / s.limit > at->what.times / at->what.limit) at->what = s;
    at->runs.push_back(i);
  }
  std::ranges::sort(outliers_, std::greater(),
                    [](const fleet_outlier& o) { return o.what.times / o.what.limit; });
}

double fleet_analysis::times_of(const fleet_run& run) const {
  std::vector<float> off;
  for (const auto& v : run.values) off.push_back(static_cast<float>(v.log_us - usual_[v.kind].at(run.day())));
  return off.empty() ? 1 : std::exp(middle(off));
}

std::map<std::string, day_of_fleet> fleet_analysis::days() const {
  std::map<std::string, day_of_fleet> all;
  for (const auto& run : all_.runs()) {
    auto& d = all[run.day()];
    ++d.runs;
    d.normal += run.verdict == node_verdict_kind::normal;
    for (const auto& v : run.values)
      d.off[v.second >= 0 ? 2 : v.first >= 0 ? 1 : 3].push_back(std::exp(v.log_us - usual_[v.kind].centre));
  }
  return all;
}

}  // namespace mgsync
