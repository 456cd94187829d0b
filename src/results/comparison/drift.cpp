#include "src/results/comparison/drift.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <optional>

#include <boost/math/distributions/normal.hpp>
#include <fmt/format.h>

#include "src/results/comparison/reference_spread.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

constexpr std::size_t least_days = 6, most_days = 100, enough_nodes = 5, most_drifts = 500;
constexpr double least_change = 0.02, scatters = 3;

struct dated {
  double day, value;
};

std::optional<double> number_of(const std::string& day) {
  int year = 0;
  unsigned month = 0, of_month = 0;
  if (std::sscanf(day.c_str(), "%4d-%2u-%2u", &year, &month, &of_month) != 3) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                         std::chrono::day{of_month}};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

// How likely it is, by Kendall's sum of signs, that values without an order seem to have one.
double chance_of(double signs, double n) {
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const boost::math::normal gauss;
  return 2 * boost::math::cdf(boost::math::complement(gauss, std::max(std::abs(signs) - 1, 0.0) / deviation));
}

std::optional<drift> drift_of(const std::map<std::string, double>& values, std::size_t judged) {
  std::vector<dated> all;
  drift found;
  auto from = values.begin();
  if (values.size() > most_days) std::advance(from, values.size() - most_days);
  for (; from != values.end(); ++from) {
    const auto& [day, value] = *from;
    const auto number = number_of(day);
    if (!number) continue;
    if (all.empty()) found.first = day;
    found.last = day;
    all.push_back({*number, value});
  }
  if (all.size() < least_days) return std::nullopt;
  std::vector<double> slopes;
  double signs = 0;
  for (std::size_t j = 0; j < all.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      const double rise = all[j].value - all[i].value;
      slopes.push_back(rise / (all[j].day - all[i].day));
      signs += (rise > 0) - (rise < 0);
    }
  const double slope = median(slopes), change = slope * (all.back().day - all.front().day);
  std::vector<double> off;
  for (const auto& one : all) off.push_back(one.value - slope * one.day);
  const double centre = median(off);
  for (auto& one : off) one = std::abs(one - centre);
  const double scatter = 1.4826 * median(off);
  found.times = std::exp(change), found.scatter = std::expm1(scatter);
  const bool little = std::abs(change) < std::max(least_change, scatters * scatter);
  const double chance = chance_of(signs, static_cast<double>(all.size())) * static_cast<double>(judged);
  return little || chance > false_alarms ? std::nullopt : std::optional(found);
}

}  // namespace

std::vector<drift> drifts_of(const series_of_nodes& all) {
  std::map<std::string, std::map<std::string, double>> by_node;
  std::map<std::string, std::vector<double>> of_day;
  for (const auto& [node, days] : all)
    for (const auto& [day, values] : days) {
      by_node[node][day] = median(values);
      of_day[day].push_back(by_node[node][day]);
    }
  std::map<std::string, double> common;
  for (const auto& [day, values] : of_day) common[day] = values.size() < enough_nodes ? 0 : median(values);
  std::vector<drift> found;
  for (auto& [node, days] : by_node) {
    for (auto& [day, value] : days) value -= common[day];
    if (auto one = drift_of(days, by_node.size())) {
      one->node = node;
      found.push_back(std::move(*one));
    }
  }
  std::ranges::stable_sort(found, std::greater(), [](const drift& d) { return std::abs(std::log(d.times)); });
  return found;
}

std::string words_of(const drift& d) {
  return fmt::format("has become {:.1f} % {} from {} to {}, steadily: a day is off that line by {:.1f} %",
                     100 * std::abs(d.times - 1), d.times > 1 ? "slower" : "faster", d.first, d.last,
                     100 * d.scatter);
}

table drift_table(const std::vector<drift>& all) {
  table t{{"fleet-drift", "Nodes that drift",
           "By the line through the medians of their days, over the fleet's where there are five nodes. "
           "Scatter: how far a day is off that line."},
          {"node", "from", "to", "times | .3f", "scatter, % | .1f"}};
  for (const auto& d : all)
    if (t.rows.size() < most_drifts) t.add({d.node, d.first, d.last, d.times, 100 * d.scatter});
  return t;
}

}  // namespace mgsync
