#include "src/studies/model/measured_crossing.hpp"

#include <algorithm>
#include <cstdint>

namespace mgsync::model {
namespace {

bool are_times(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return v > 0; });
}

}  // namespace

std::vector<double> common_sizes(const std::map<double, const result*>& a,
                                 const std::map<double, const result*>& b) {
  std::vector<double> all;
  for (const auto& [bytes, r] : a)
    if (b.contains(bytes) && are_times({r->metrics.front().median, b.at(bytes)->metrics.front().median}))
      all.push_back(bytes);
  return all;
}

measured_crossing measured_between(const std::map<double, const result*>& basic,
                                   const std::map<double, const result*>& more) {
  const auto bytes = common_sizes(basic, more);
  const auto over = [&](const auto& curve, auto value) {
    std::vector<double> all;
    for (const double b : bytes) all.push_back(value(curve.at(b)->metrics.front()));
    return all;
  };
  const auto median = [](const metric& m) { return m.median; };
  measured_crossing found{crossing_of(bytes, over(basic, median), over(more, median)), {}, {}};
  std::size_t batches = SIZE_MAX;
  for (const double b : bytes)
    batches =
        std::min({batches, basic.at(b)->metrics.front().raw.size(), more.at(b)->metrics.front().raw.size()});
  for (std::size_t i = 0; i < batches; ++i) {
    const auto one = [i](const metric& m) { return m.raw[i]; };
    const auto few = over(basic, one), many = over(more, one);
    if (!are_times(few) || !are_times(many)) continue;
    const auto at = crossing_of(bytes, few, many).for_good;
    if (!at) continue;
    found.low = std::min(found.low.value_or(*at), *at);
    found.high = std::max(found.high.value_or(*at), *at);
  }
  return found;
}

std::optional<double> foretold_crossing(const std::vector<double>& bytes, const std::vector<double>& basic,
                                        const std::vector<double>& more) {
  return are_times(basic) && are_times(more) ? crossing_of(bytes, basic, more).for_good : std::nullopt;
}

}  // namespace mgsync::model
