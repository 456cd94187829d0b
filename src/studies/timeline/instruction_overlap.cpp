#include "src/studies/timeline/instruction_overlap.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mgsync::timelines {

load_overlap overlap_of_loads(std::span<const loads_point> points) {
  const auto n = static_cast<double>(points.size());
  double k = 0, t = 0, kk = 0, kt = 0;
  for (const auto& p : points) {
    const double before = p.loads - 1;
    k += before;
    t += p.cycles;
    kk += before * before;
    kt += before * p.cycles;
  }
  const double spread = n * kk - k * k;
  if (!(spread > 0)) throw std::invalid_argument("a line through fewer than two different numbers of loads");
  load_overlap found;
  found.interval = (n * kt - k * t) / spread;
  found.latency = (t - found.interval * k) / n;
  for (const auto& p : points)
    found.residual =
        std::max(found.residual, std::abs(p.cycles - found.latency - found.interval * (p.loads - 1)));
  return found;
}

double overlap_of_pair(double a_cycles, double b_cycles, double both_cycles) {
  if (!(a_cycles > 0 && b_cycles > 0)) throw std::invalid_argument("an overlap of what takes no time");
  return 1 - (both_cycles - std::max(a_cycles, b_cycles)) / std::min(a_cycles, b_cycles);
}

region_judgement judge(const region_cycles& r) {
  constexpr double sum_within = 4, misleads_from = 100;
  region_judgement j;
  j.sum_of_parts = r.store_and_load + r.barrier + r.reads();
  j.corrected_less_sum = r.corrected - j.sum_of_parts;
  j.as_compiled_less_sum = r.as_compiled - j.sum_of_parts;
  j.is_the_sum = std::abs(j.corrected_less_sum) <= sum_within;
  j.twin_misleads = j.as_compiled_less_sum >= misleads_from;
  return j;
}

}  // namespace mgsync::timelines
