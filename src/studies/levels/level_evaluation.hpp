// What the figures inside one GPU mean: the papers' tables with this machine beside V100 and P100, the line
// of the block barrier over warps, throughput over warps per SM, and what must hold. Pure.
#pragma once

#include <map>
#include <span>
#include <string>

#include "src/results/figure.hpp"
#include "src/studies/levels/level_values.hpp"

namespace mgsync::levels {

// What is known of the machine besides the figures.
struct this_gpu {
  std::string name = "this GPU";
  double mhz = 0;  // the SM's clock, measured in the same run; 0: unknown
  std::map<std::string, std::string, std::less<>> not_checked;  // by family: why its code is not what it says
};

// In the order of the study's levels.
expectations expectations_of(std::span<const level_value>, const this_gpu&);

// The expectations as a table (those of `further` behind those of the values), tables II of 000 and 2, 4, 5,
// 7 of 001, the same by both clocks, all levels in one table, figure 4 of 000 and figure 6 of 001; and in
// sentences how many hold, and which do not: what is checked and repeats is a finding.
evaluation evaluate(std::span<const level_value>, const this_gpu&, std::span<const expectation> further = {});

}  // namespace mgsync::levels
