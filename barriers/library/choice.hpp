// Which of mgsync's barriers the multigrid backend's `auto` and the library run: pure, from measurements.
#pragma once

#include "barriers/library/include/mgsync/multi_grid_handle.hpp"
#include "barriers/parts/algorithm/flag_image.hpp"
#include "barriers/parts/algorithm/grid_choice.hpp"

namespace mgsync {

// On `members` GPUs of `sms` SMs (the GPU with the fewest) with `blocks` blocks each, and why.
algorithm::grid_choice choose_multigrid(unsigned members, unsigned blocks, unsigned sms);

// The handle of GPU `rank`, from which `parts` are the addresses of all GPUs' flags; the records, the
// generation, the word of kernels that refuse it, and of more than gpus_inside the table of these addresses,
// are left to be set.
multi_grid_handle describe(const algorithm::grid_choice&, std::uint32_t* const* parts, unsigned rank,
                           unsigned gpus, unsigned blocks);

// The initial content of every GPU's flags: the barrier's, and behind them the places of values that it
// carries.
algorithm::flag_image image_of(const algorithm::grid_choice&, unsigned blocks);

// The record of a block that has passed no barrier yet.
inline multi_grid_block fresh_block() {
  multi_grid_block block{};
  block.epoch = block.looked_at = algorithm::first_gpu_epoch;
  return block;
}

}  // namespace mgsync
