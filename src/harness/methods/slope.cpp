#include "src/harness/methods/slope.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "src/results/values/statistics.hpp"

namespace mgsync {

cycle_histogram histogram_of(std::span<const double> cycles) {
  cycle_histogram counts;
  for (const double each : cycles) {
    if (!(each >= 0) || each != std::floor(each))
      throw std::invalid_argument(fmt::format("{} is no count of cycles", each));
    ++counts[static_cast<std::uint64_t>(each)];
  }
  return counts;
}

std::uint64_t mode_of(const cycle_histogram& counts) {
  if (counts.empty()) throw std::invalid_argument("the mode of no samples");
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::uint64_t median_of(const cycle_histogram& counts) {
  if (counts.empty()) throw std::invalid_argument("the median of no samples");
  std::uint64_t all = 0, before = 0;
  for (const auto& [cycles, times] : counts) all += times;
  for (const auto& [cycles, times] : counts)
    if ((before += times) * 2 >= all) return cycles;
  return counts.rbegin()->first;
}

std::string mode_column(std::uint64_t length) { return fmt::format("mode_{}", length); }

namespace {

using by_length = std::map<std::uint64_t, cycle_histogram>;

line_fit fit_through(const by_length& histograms, bool medians) {
  std::vector<double> lengths, cycles;
  for (const auto& [length, counts] : histograms) {
    lengths.push_back(static_cast<double>(length));
    cycles.push_back(static_cast<double>(medians ? median_of(counts) : mode_of(counts)));
  }
  return fit_line(lengths, cycles);
}

// The slopes of all places, in one row.
void add_places(sample& row, const std::map<double, by_length>& places, bool medians) {
  std::vector<double> slopes, residuals;
  for (const auto& [place, histograms] : places) {
    if (histograms.size() < 2) continue;  // this place took no part in some launches
    const auto line = fit_through(histograms, medians);
    slopes.push_back(line.slope);
    residuals.push_back(line.residual);
  }
  if (slopes.empty()) throw std::invalid_argument("no place has samples of two lengths");
  const auto [lowest, highest] = std::minmax_element(slopes.begin(), slopes.end());
  row.values = {{"latency", median(slopes)},
                {"residual", median(residuals)},
                {"lowest", *lowest},
                {"highest", *highest},
                {"places", static_cast<double>(slopes.size())}};
}

}  // namespace

slope::slope(slope_settings settings) : settings_(std::move(settings)) {
  const std::set<std::uint64_t> distinct(settings_.lengths.begin(), settings_.lengths.end());
  if (distinct.size() < 2 || distinct.contains(0))
    throw std::invalid_argument("a slope needs two lengths, none of them 0");
  if (settings_.batches == 0) throw std::invalid_argument("a slope needs a batch");
  settings_.lengths.assign(distinct.begin(), distinct.end());
}

std::optional<step> slope::next(std::chrono::nanoseconds) {
  if (batch_ == settings_.batches) {
    done_ = true;
    return std::nullopt;
  }
  step all;
  all.batch = batch_;
  for (const auto length : settings_.lengths) all.orders.push_back({.count = length});
  return all;
}

void slope::take(const step& asked, std::span<const seen> came) {
  by_length here;
  std::map<double, by_length> places;
  for (std::size_t i = 0; i < came.size(); ++i) {
    const auto length = asked.orders[i].count;
    const auto& cycles = values_of(came[i], "cycles");
    for (const auto& [value, times] : histogram_of(cycles)) {
      here[length][value] += times;
      histograms_[length][value] += times;
    }
    if (settings_.place.empty()) continue;
    const auto& where = values_of(came[i], settings_.place);
    if (where.size() != cycles.size()) throw std::invalid_argument("samples without a place");
    for (std::size_t k = 0; k < cycles.size(); ++k)
      ++places[where[k]][length][static_cast<std::uint64_t>(cycles[k])];
  }
  sample row{asked.batch, {}};
  if (settings_.place.empty()) {
    const auto line = fit_through(here, settings_.medians);
    row.values = {{"latency", line.slope}, {"residual", line.residual}};
  } else {
    add_places(row, places, settings_.medians);
  }
  double per_link = std::numeric_limits<double>::infinity();
  for (const auto& [length, counts] : here) {
    per_link = std::min(per_link, static_cast<double>(counts.begin()->first) / static_cast<double>(length));
    row.values.push_back(
        settings_.medians
            ? named_value{fmt::format("median_{}", length), static_cast<double>(median_of(counts))}
            : named_value{mode_column(length), static_cast<double>(mode_of(counts))});
  }
  row.values.push_back({"per_link", per_link});
  samples_.push_back(std::move(row));
  ++batch_;
}

std::vector<metric_name> slope::columns() const {
  std::vector<metric_name> all{metric_name{"latency", "cycles"}, metric_name{"per_link", "cycles"},
                               metric_name{"residual", "cycles"}};
  if (!settings_.place.empty())
    all.insert(all.end(), {metric_name{"lowest", "cycles"}, metric_name{"highest", "cycles"},
                           metric_name{"places", ""}});
  return all;
}

void slope::resume(std::span<const sample> before, std::uint32_t next_batch) {
  samples_.assign(before.begin(), before.end());
  batch_ = next_batch;
}

}  // namespace mgsync
