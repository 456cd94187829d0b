// The kernels that are launched, as host code names them: some wait for nothing, some for units of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mgsync::launch {

// The waiting kernels' only argument.
struct waiting {
  std::uint32_t units = 0;
  std::uint32_t unit_ns = 0;
  unsigned long long* waited_ns =
      nullptr;  // of this GPU; block 0 adds its own; none: it leaves nothing in memory
};

// What every launch of these kernels hands over: as long as the longest arguments, of which waiting kernels
// read the beginning.
struct launch_arguments {
  waiting what;
  std::array<std::byte, 4096 - sizeof(waiting)> rest{};
};
static_assert(sizeof(launch_arguments) == 4096);

// Kernels for cudaLaunchKernel. in_turn: with the two instructions of programmatic dependent launch.
const void* waiting_kernel(bool in_turn);
// `argument_bytes`: 0, 8, 128 or 4096 of arguments.
const void* null_kernel(bool in_turn, unsigned argument_bytes);

}  // namespace mgsync::launch
