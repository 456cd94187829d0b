// Kernels of nothing but barriers, for what sync() costs in a user's kernel, and the same with what each
// barrier orders checked. C++17.
#pragma once

#include <cstdint>

#include <mgsync/multi_grid_handle.hpp>

#include "src/studies/library/sync_form.hpp"

namespace mgsync::library {

// (handle, turns). Capped to 32 registers, as mgsync's own rounds are, so that every shape fits.
using turn_kernel = void (*)(multi_grid_handle, unsigned);
turn_kernel timed_kernel(sync_form, const multi_grid_handle&);

// What a checking run writes and reads: a word of each block in two slots, in every GPU's own memory.
struct check_board {
  std::uint32_t* words[multi_grid_handle::most_gpus];  // of each GPU: [2][blocks], as this GPU addresses them
  unsigned long long* compared;                        // this GPU's counts: compared, wrong
  std::uint32_t first_phase;                           // of the first round
  unsigned faulty;                                     // 1: the first GPU's block 0 publishes too late
};

// Every round each block publishes its phase, passes the barrier, and reads the phases of others; one block
// after the other is held back.
using checked_kernel = void (*)(multi_grid_handle, unsigned, check_board);
checked_kernel checking_kernel(sync_form, const multi_grid_handle&);

}  // namespace mgsync::library
