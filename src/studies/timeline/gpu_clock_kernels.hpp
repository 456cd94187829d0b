// The kernels that compare the timers of GPUs: launched by gpu_clock.cpp.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "src/studies/timeline/clock_offset.hpp"

namespace mgsync::timelines {

inline constexpr unsigned messages_between_gpus = 400;

// Sends messages between two GPUs: launched with one thread on each, `asks` being true on one of them. Each
// polls `mine`, for at most a second in all, and writes `theirs`; `done` becomes 1 once all messages have
// come. The words and `done` must be 0 before.
void launch_messages(std::uint32_t* mine, std::uint32_t* theirs, bool asks, exchange* out,
                     std::uint32_t* done, cudaStream_t);

// Writes the smallest step of the GPU's timer in ns, seen over ten thousand readings, to `out`.
void launch_timer_step(std::uint64_t* out, cudaStream_t);

}  // namespace mgsync::timelines
