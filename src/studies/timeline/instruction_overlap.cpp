#include "src/studies/timeline/instruction_overlap.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "src/results/frame/lines.hpp"

namespace mgsync::timelines {

load_overlap overlap_of_loads(std::span<const loads_point> points) {
  std::vector<double> before, cycles;
  for (const auto& p : points) before.push_back(p.loads - 1), cycles.push_back(p.cycles);
  const auto line = fit_line(before, cycles);
  return {.latency = line.offset, .interval = line.slope, .residual = line.residual};
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
