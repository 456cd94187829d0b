// The kernels that compare the timers of GPUs: launched by gpu_clock.cpp.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "src/studies/timeline/clock_offset.hpp"

namespace mgsync::timelines {

inline constexpr unsigned messages_between_gpus = 400;

// One thread on the stream's GPU; the other GPU's is launched alike, with asks the other way round. Each
// polls its own word, at most a second in all, and writes the other's; `done` becomes 1 when all messages
// came. Words and `done` begin at 0.
void launch_messages(std::uint32_t* mine, std::uint32_t* theirs, bool asks, exchange* out,
                     std::uint32_t* done, cudaStream_t);

// The smallest step of the GPU's timer, over ten thousand readings.
void launch_timer_step(std::uint64_t* out, cudaStream_t);

}  // namespace mgsync::timelines
