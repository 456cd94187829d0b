// Turns what the blocks of a recorded run wrote into the rounds of workers; no side effects.
#pragma once

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync::round_loop {

// The last `told` of a run's `rounds` rounds as this block of the member recorded them; at most
// most_recorded_rounds. Stamps are values of the SM's cycle counter: their time on the GPU's shared timer is
// interpolated between the earliest and the last of the block's clock readings, which is as accurate as these
// (one step of the timer). A block that stamps no arrivals arrived at a round when it left the one before.
worker_record record_of(const block_events&, unsigned member, std::uint32_t rounds, std::uint32_t told);

}  // namespace mgsync::round_loop
