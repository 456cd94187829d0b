// Measured values: a metric is a quantity with its unit and its uncertainty; samples are the rows of named
// numbers from which it was computed.
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

// Which of two values is the better one. neither: of what was set, and of what should come to a value of its
// own.
enum class better { less, more, neither };
template <>
struct enum_words<better> {
  static constexpr std::pair<better, std::string_view> list[] = {
      {better::less, "less"}, {better::more, "more"}, {better::neither, "neither"}};
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

// A statistic that is reported for every metric besides its median, interval and range. Each is one line in
// further_statistics.cpp; files and CSV columns follow from it (docs/extending.md).
struct further_statistic {
  std::string_view name;  // "p95": its key in JSON, and appended to the metric's name its CSV column
  std::size_t least = 1;  // it is absent for fewer samples
  double (*of)(std::span<const double> samples) = nullptr;
};
std::span<const further_statistic> further_statistics();

// Numbers that a file does not contain are NaN.
struct metric : metric_name {
  double median = 0;    // of the batches' medians
  double ci95_low = 0;  // of that median
  double ci95_high = 0;
  double confidence =
      0;  // the interval's actual confidence: below 0.95 (too few batches), the interval is the whole range
  double min = 0;  // of the samples
  double max = 0;
  double spread = 0;              // of the samples themselves: half the central 68 %
  std::optional<double> sigma{};  // the standard deviation expected of one sample by eq. 8, where the method
                                  // is the difference of two runs
  std::vector<std::optional<double>> further =
      std::vector<std::optional<double>>(further_statistics().size());  // in their order
  std::size_t samples = 0;
  std::vector<double>
      raw{};  // the batches' medians in order, which comparisons use as the unit of replication

  // One batch gives no interval: ci95_low and ci95_high are its value, and the metric is not ranked.
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

// The metric of values in batches; the batch is the unit of replication (src/results/values/statistics.hpp).
// Empty batches are left out. Throws std::invalid_argument where all are empty.
metric summarize_batches(const metric_name&, const std::vector<std::vector<double>>& batches);

// The name of its column: "latency_us", "bandwidth_GB/s".
std::string column_name(const metric_name&);

// Whether it is a duration, so that "slower" and "faster" apply.
bool is_a_time(const metric_name&);

// The factor by which `value` is worse than `best`: their quotient, or its inverse where more is better.
double times_worse(const metric& best, const metric& value);

struct named_value {
  std::string name;
  double value = 0;
};
inline auto& bare(named_value& v) { return v.value; }

// One sample: for barriers the latency, and the durations and rounds from which it was computed. A value with
// a metric's name is that metric's value, in its unit.
struct sample {
  std::uint32_t batch = 0;  // its number; the measured object is created anew for each batch
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
// The samples as columns: "batch" first, then the others in the order of their first appearance.
sample_columns columns_of(const std::vector<sample>&);
// The inverse of columns_of(). Throws usage_error, with the position from `place`, for anything else than
// columns of samples.
std::vector<sample> samples_of(const sample_columns&, json_text& place);

}  // namespace mgsync
