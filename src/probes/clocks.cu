// Compares the two counters: cycles of an SM per nanosecond of the global timer, while the SM is busy; and
// the global timer's smallest step.
#include <cstdint>

namespace {

__device__ __forceinline__ std::uint64_t cycles() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

__device__ __forceinline__ std::uint64_t global_ns() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

// Waits for the next step of the global timer, and returns it.
__device__ __forceinline__ std::uint64_t at_step() {
  const std::uint64_t before = global_ns();
  std::uint64_t now = before;
  while (now == before) now = global_ns();
  return now;
}

}  // namespace

// Writes to `out` the cycles and the nanoseconds between two steps of the timer that are at least `least_ns`
// apart, and the smallest step in ns.
extern "C" __global__ void clocks_side_by_side(std::uint64_t* out, std::uint64_t least_ns,
                                               unsigned readings) {
  std::uint64_t smallest = ~0ull, last = global_ns();
  for (unsigned k = 0; k < readings; ++k) {
    const std::uint64_t now = global_ns();
    if (now != last && now - last < smallest) smallest = now - last;
    last = now;
  }
  const std::uint64_t ns_begin = at_step();
  const std::uint64_t cycles_begin = cycles();
  while (global_ns() - ns_begin < least_ns) {}
  const std::uint64_t ns_end = at_step();
  const std::uint64_t cycles_end = cycles();
  out[0] = cycles_end - cycles_begin;
  out[1] = ns_end - ns_begin;
  out[2] = smallest;
}
