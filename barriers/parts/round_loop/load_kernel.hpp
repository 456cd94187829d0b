// Load beside a barrier: a kernel in a stream of its own that writes to the peers until it is told to stop. C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync::round_loop {

// One launch on one GPU. Trivially copyable: it is a kernel parameter.
struct load_run {
  std::byte* targets[most_gpus];   // scratch memory of every member, as this GPU addresses it
  std::size_t bytes;               // of each
  std::uint32_t member;
  std::uint32_t members;
  std::uint32_t turn;
  std::uint32_t* running;          // host memory: becomes `turn` when the kernel has begun
  const std::uint32_t* stop;       // host memory: `turn` ends the kernel
  const std::uint32_t* abort;      // host memory: and so does anything but 0
  std::uint64_t budget_ns;         // and so does time
};

inline constexpr unsigned load_threads = 128;  // of a block; one block per SM

// The kernel, which takes a load_run: one GPU writes to the others in turn (a GPU alone to itself), 16 bytes a thread.
const void* load_kernel();

}  // namespace mgsync::round_loop
