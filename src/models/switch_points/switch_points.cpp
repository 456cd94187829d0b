#include "src/models/switch_points/switch_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace mgsync::model {

double concurrency_bytes(const configuration& c) { return c.bytes_per_time * c.latency; }

double time_of(const configuration& c, double bytes, double sync) {
  return sync + std::max(c.latency, bytes / c.bytes_per_time);
}

switch_points where_they_meet(const configuration& basic, const configuration& more, double sync) {
  for (const auto* c : {&basic, &more})
    if (!(c->bytes_per_time > 0 && c->latency > 0)) throw std::invalid_argument(c->name + " moves nothing");
  if (!(sync >= 0)) throw std::invalid_argument("a barrier takes no negative time");
  const double from = concurrency_bytes(basic), to = concurrency_bytes(more);
  switch_points found;
  found.middle_formula = basic.bytes_per_time * (more.latency + sync);
  found.large_formula =
      more.bytes_per_time > basic.bytes_per_time
          ? sync * basic.bytes_per_time * more.bytes_per_time / (more.bytes_per_time - basic.bytes_per_time)
          : std::numeric_limits<double>::infinity();
  if (found.middle_formula > from && found.middle_formula <= to) found.middle = found.middle_formula;
  if (std::isfinite(found.large_formula) && found.large_formula > to) found.large = found.large_formula;
  // Both times are first constant, then linear in the size: their difference changes its sign only where one
  // of the formulas holds.
  if (time_of(more, 0, sync) <= time_of(basic, 0) && more.bytes_per_time >= basic.bytes_per_time)
    found.for_good = 0;
  else if (more.bytes_per_time > basic.bytes_per_time)
    found.for_good = found.large ? found.large : found.middle;
  return found;
}

crossing crossing_of(const std::vector<double>& bytes, const std::vector<double>& basic,
                     const std::vector<double>& more) {
  if (bytes.size() < 2 || basic.size() != bytes.size() || more.size() != bytes.size())
    throw std::invalid_argument("two curves over the same sizes, at least two, are needed");
  std::vector<double> ahead;  // above 0 where `more` is faster
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!(basic[i] > 0 && more[i] > 0) || (i > 0 && bytes[i] <= bytes[i - 1]))
      throw std::invalid_argument("sizes rise, and times are positive");
    ahead.push_back(std::log(basic[i] / more[i]));
  }
  crossing found;
  if (ahead.front() > 0) found.first = found.for_good = bytes.front();
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (ahead[i] <= 0) {
      found.for_good.reset();
    } else if (ahead[i - 1] <= 0) {
      const double share = -ahead[i - 1] / (ahead[i] - ahead[i - 1]);
      const double at = std::exp(std::log(bytes[i - 1]) + share * std::log(bytes[i] / bytes[i - 1]));
      if (!found.first) found.first = at;
      found.for_good = at;
    }
  }
  return found;
}

}  // namespace mgsync::model
