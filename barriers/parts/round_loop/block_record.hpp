// What the blocks of a recorded run wrote, as the rounds of workers. Pure.
#pragma once

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync::round_loop {

// The last `told` of a run's `rounds` rounds as that block of the member saw them. Moments without a timer of
// their own have that of the line through the earliest and the last of the block's clock readings, which is
// off by no more than these (the timer's step). A block that stamps no coming of its own came as it left the
// round before. At most most_recorded_rounds are told.
worker_record record_of(const block_events&, unsigned member, std::uint32_t rounds, std::uint32_t told);

}  // namespace mgsync::round_loop
