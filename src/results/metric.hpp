// What was measured, as values: a metric is one figure in its unit, with what is known of its uncertainty;
// samples are the rows of named numbers that it was computed from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/enum_words.hpp"
#include "src/base/fields.hpp"

namespace mgsync {

class json_text;

enum class better { less, more };  // which of two values a reader prefers
template <>
struct enum_words<better> {
  static constexpr std::pair<better, std::string_view> list[] = {{better::less, "less"},
                                                                 {better::more, "more"}};
};

struct metric_name {
  std::string name;
  std::string unit;  // "us", "cycles", "GB/s"; empty: a pure number
  mgsync::better better = mgsync::better::less;
  bool operator==(const metric_name&) const = default;
};
void fields(auto& way, metric_name& m) {
  way.needs("unit", m.unit);
  way.needs("better", m.better);
}

// What is told of every metric beside its median, interval and range: a line each in further_statistics.cpp,
// from which writing, reading and the columns of CSV follow (docs/extending.md).
struct further_statistic {
  std::string_view name;  // "p95": its key in JSON, and behind the metric's name its column
  std::size_t least = 1;  // of fewer samples it is not told
  double (*of)(std::span<const double> samples) = nullptr;
};
std::span<const further_statistic> further_statistics();

// Numbers that a file does not tell are NaN.
struct metric : metric_name {
  double median = 0;    // over the batches' medians
  double ci95_low = 0;  // of that median
  double ci95_high = 0;
  double confidence = 0;  // that the interval really has: below 0.95 (too few batches) it is the whole range
  double min = 0;         // of the samples
  double max = 0;
  double spread = 0;  // of the samples themselves: half the central 68 %
  std::optional<double>
      sigma{};  // eq. 8, where the method is the difference of two runs: expected of one sample
  std::vector<std::optional<double>> further =
      std::vector<std::optional<double>>(further_statistics().size());  // in their order
  std::size_t samples = 0;
  std::vector<double>
      raw{};  // the batches' medians, in their order: the unit of replication, what comparisons take

  // Of one batch there is no interval: ci95_low and ci95_high are that value, and it neither wins nor ties.
  bool of_one_batch() const { return raw.size() == 1; }
};
void fields(auto& way, metric& m) {
  fields(way, static_cast<metric_name&>(m));
  way.needs("median", m.median);
  way.needs("ci95_low", m.ci95_low);
  way.needs("ci95_high", m.ci95_high);
  way.needs("confidence", m.confidence);
  way.needs("min", m.min);
  way.needs("max", m.max);
  way.needs("spread", m.spread);
  way.may("sigma", m.sigma);
  for (std::size_t i = 0; i < m.further.size(); ++i) way.may(further_statistics()[i].name, m.further[i]);
  way.needs("samples", m.samples);
  way.needs("raw", m.raw);
}

// Of values in batches, the batch being the unit of replication (src/results/statistics.hpp). Batches without
// values are left out; std::invalid_argument where there is none with any.
metric summarize_batches(const metric_name&, const std::vector<std::vector<double>>& batches);

// "latency_us", "bandwidth_GB/s": how columns are called.
std::string column_name(const metric_name&);

// Whether it is a duration: more of it is slower.
bool is_a_time(const metric_name&);

// What `value` is worth beside `best`, as a factor that is at least 1 for the worse one: how often as long,
// or how many times less of what is to be more.
double times_worse(const metric& best, const metric& value);

struct named_value {
  std::string name;
  double value = 0;
};
inline auto& bare(named_value& v) { return v.value; }

// One row of what was measured: of barriers the latency, and the durations and rounds that it was computed
// from. A value under a metric's name, in its unit, is that metric's.
struct sample {
  std::uint32_t batch = 0;  // what is measured is made anew for each batch
  std::vector<named_value> values{};

  double at(std::string_view name) const;  // NaN where the sample has no such value
};

// The values that samples have under one name; NaN where one has none.
struct sample_column {
  std::string name;
  std::vector<double> values;
};
inline auto& bare(sample_column& c) { return c.values; }
struct sample_columns {
  std::vector<sample_column> all;
};
inline auto bare(sample_columns& c) { return by_name{c.all}; }
// The first is "batch", the others in the order in which they come up.
sample_columns columns_of(const std::vector<sample>&);
// Back. `place` is where they stand in a text, and refuses what are no columns of samples.
std::vector<sample> samples_of(const sample_columns&, json_text& place);

}  // namespace mgsync
