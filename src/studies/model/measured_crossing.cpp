#include "src/studies/model/measured_crossing.hpp"

#include <algorithm>
#include <cstdint>

namespace mgsync::model {

std::vector<double> common_sizes(const std::map<double, const result*>& a, const std::map<double, const result*>& b) {
  std::vector<double> all;
  for (const auto& [bytes, r] : a)
    if (b.contains(bytes)) all.push_back(bytes);
  return all;
}

measured_crossing measured_between(const std::map<double, const result*>& basic, const std::map<double, const result*>& more) {
  const auto bytes = common_sizes(basic, more);
  const auto over = [&](const auto& curve, auto value) {
    std::vector<double> all;
    for (const double b : bytes) all.push_back(value(curve.at(b)->metrics.front()));
    return all;
  };
  const auto median = [](const metric& m) { return m.median; };
  measured_crossing found{crossing_of(bytes, over(basic, median), over(more, median)), {}, {}};
  std::size_t batches = SIZE_MAX;
  for (const double b : bytes) batches = std::min({batches, basic.at(b)->metrics.front().raw.size(), more.at(b)->metrics.front().raw.size()});
  for (std::size_t i = 0; i < batches; ++i) {
    const auto one = [i](const metric& m) { return m.raw[i]; };
    const auto at = crossing_of(bytes, over(basic, one), over(more, one)).for_good;
    if (!at) continue;
    found.low = std::min(found.low.value_or(*at), *at);
    found.high = std::max(found.high.value_or(*at), *at);
  }
  return found;
}

}  // namespace mgsync::model
