// Which of mgsync's barriers the multigrid backend's `auto` and the library run: pure, from measurements.
#pragma once

#include "barriers/parts/algorithm/grid_choice.hpp"
#include "barriers/parts/algorithm/layout.hpp"
#include "barriers/library/include/mgsync/multi_grid_handle.hpp"

namespace mgsync {

// On `members` GPUs of `sms` SMs (the GPU with the fewest) with `blocks` blocks each, and why.
algorithm::grid_choice choose_multigrid(unsigned members, unsigned blocks, unsigned sms);

// The record of a block that has met nobody yet.
inline constexpr multi_grid_block fresh_block{algorithm::first_gpu_epoch, algorithm::first_gpu_epoch, 0, 0};

// Writes the choice into a handle.
void describe(const algorithm::grid_choice&, unsigned members, unsigned blocks, multi_grid_handle&);

}  // namespace mgsync
