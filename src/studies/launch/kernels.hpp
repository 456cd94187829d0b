// The kernels that are launched, for host code: some wait for nothing, some for a number of units of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mgsync::launch {

// The only argument of the waiting kernels that are told how long, and of those that store how long it was.
struct waiting {
  std::uint32_t units = 0;
  std::uint32_t unit_ns = 0;
  unsigned long long* waited_ns =
      nullptr;  // this GPU's sum, to which block 0 adds; nullptr: nothing is stored
};

// What every launch passes: as large as the longest arguments; waiting kernels read only the beginning.
struct launch_arguments {
  waiting what;
  std::array<std::byte, 4096 - sizeof(waiting)> rest{};
};
static_assert(sizeof(launch_arguments) == 4096);

// Kernels for cudaLaunchKernel. `in_turn`: with the two instructions of programmatic dependent launch.
const void* waiting_kernel(bool in_turn);
// One that waits so long and stores nothing. Without arguments the length is in its code, where it is 5 us or
// that doubled up to ten times; with some it is loaded from them.
const void* waiting_kernel(bool in_turn, unsigned argument_bytes, std::uint64_t ns);
// `argument_bytes`: 0, 8, 128 or 4096 of arguments.
const void* null_kernel(bool in_turn, unsigned argument_bytes);

// Rounds of kernels in a graph: an empty one, and one that looks whether all `kernels` of the round before
// have said that they came (`before`; null: there is none), waits 2 us, and says so. Each writes words of its
// own: additions of several GPUs to host memory are lost where the bus has none.
struct told_round {
  unsigned* mine;
  const unsigned* before;
  unsigned kernels;
  unsigned* too_early;
};
const void* empty_kernel();
const void* telling_kernel();  // its argument: a told_round

}  // namespace mgsync::launch
