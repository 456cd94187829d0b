#include "src/results/values/metric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "src/base/strict_json.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {

metric summarize_batches(const metric_name& name, const std::vector<std::vector<double>>& batches) {
  metric m{name};
  std::vector<double> all;
  for (const auto& batch : batches) {
    if (batch.empty()) continue;
    m.raw.push_back(median(batch));
    all.insert(all.end(), batch.begin(), batch.end());
  }
  const interval ci = median_interval(m.raw);
  m.median = median(m.raw);
  m.ci95_low = ci.low;
  m.ci95_high = ci.high;
  m.confidence = ci.confidence;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  m.min = *least;
  m.max = *most;
  m.spread = spread(all);
  m.samples = all.size();
  for (std::size_t i = 0; i < m.further.size(); ++i)
    if (const auto& each = further_statistics()[i]; all.size() >= each.least) m.further[i] = each.of(all);
  return m;
}

std::string column_name(const metric_name& one) {
  return one.unit.empty() ? one.name : fmt::format("{}_{}", one.name, one.unit);
}

bool is_a_time(const metric_name& one) {
  constexpr std::string_view times[] = {"s", "ms", "us", "ns", "cycles"};
  return std::find(std::begin(times), std::end(times), one.unit) != std::end(times);
}

double times_worse(const metric& best, const metric& value) {
  return best.better == better::less ? value.median / best.median : best.median / value.median;
}

double sample::at(std::string_view name) const {
  const auto found =
      std::find_if(values.begin(), values.end(), [name](const named_value& one) { return one.name == name; });
  return found == values.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

sample_columns columns_of(const std::vector<sample>& samples) {
  std::vector<sample_column> columns{{"batch", {}}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    columns.front().values.push_back(samples[i].batch);
    for (const named_value& each : samples[i].values) {
      auto found = std::find_if(columns.begin() + 1, columns.end(),
                                [&](const sample_column& one) { return one.name == each.name; });
      if (found == columns.end()) {
        columns.push_back({each.name, {}});
        found = columns.end() - 1;
      }
      found->values.resize(i, NAN);
      found->values.push_back(each.value);
    }
  }
  for (auto& one : columns) one.values.resize(samples.size(), NAN);
  return {std::move(columns)};
}

std::vector<sample> samples_of(const sample_columns& told, json_text& place) {
  const auto& columns = told.all;
  const auto batches =
      std::find_if(columns.begin(), columns.end(), [](const auto& one) { return one.name == "batch"; });
  const json_text::inside at_batch(place, "batch");
  if (batches == columns.end()) place.refuse("missing");
  std::vector<sample> samples;
  samples.reserve(batches->values.size());
  for (const double batch : batches->values) {
    if (!(batch >= 0 && batch <= std::numeric_limits<std::uint32_t>::max()) || batch != std::floor(batch))
      place.expected("whole numbers from 0 to 4294967295");
    samples.push_back({static_cast<std::uint32_t>(batch), {}});
    samples.back().values.reserve(columns.size() - 1);
  }
  for (const auto& one : columns) {
    if (one.name == "batch") continue;
    if (one.values.size() != samples.size())
      place.refuse(fmt::format("the samples differ in number: {} and {} of {}", samples.size(),
                               one.values.size(), one.name));
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (!std::isnan(one.values[i])) samples[i].values.push_back({one.name, one.values[i]});
  }
  return samples;
}

}  // namespace mgsync
