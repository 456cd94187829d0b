// Results that hold a measured latency, for tests of what is made of them.
#pragma once

#include "src/results/values/result.hpp"

namespace mgsync::model::test {

// As of a sum that was checked, six batches of which took `value` each.
inline void measure(result& of, const char* unit, double value) {
  of.status = result_status::measured;
  of.verdict.kind = verdict_kind::sum;
  of.verdict.passed = true;
  metric m{metric_name{"latency", unit}};
  m.median = m.ci95_low = m.ci95_high = value;
  m.raw.assign(6, value);
  of.metrics = {m};
}

}  // namespace mgsync::model::test
