// What the figures inside one GPU mean: the papers' tables with this machine beside V100 and P100, the line of the block
// barrier over warps, throughput over warps per SM, and the statements that must hold. Pure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "src/results/figure.hpp"
#include "src/studies/levels/level_values.hpp"

namespace mgsync::levels {

// What is known of the machine besides the figures.
struct this_gpu {
  std::string name = "this GPU";
  double mhz = 0;  // the SM's clock, measured in the same run; 0: unknown
  std::map<std::string, double, std::less<>> host_cycles;      // by family: cycles per link by the host's clock
  std::map<std::string, std::string, std::less<>> not_checked; // by family: why its code is not what it says
};

// A statement that the study tests. `seen` is empty where nothing was measured that could tell.
struct statement {
  std::string what;
  std::string seen;
  std::optional<bool> holds;
};

// In the order of the study's levels.
std::vector<statement> statements(std::span<const level_value>, const this_gpu&);

// Tables II of 000 and 4, 5, 7 of 001, all levels in one table, figure 4 of 000 and figure 6 of 001, and as sentences
// what the statements say: one that does not hold is a finding.
evaluation evaluate(std::span<const level_value>, const this_gpu&);

}  // namespace mgsync::levels
