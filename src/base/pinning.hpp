// Binding the calling thread to CPUs, believed only when the kernel confirms it. Not through hwloc, whose
// binding silently does nothing when its topology is not this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mgsync {

// CPUs are named by their OS index, 0..most_cpus - 1.
inline constexpr int most_cpus = 65536;

// The CPUs that the calling thread may run on, sorted; empty when the kernel does not tell.
std::vector<int> allowed_cpus();

// Binds the calling thread to one CPU. An empty string once the mask that the kernel has in force is exactly
// that CPU and the thread runs there; otherwise why not, in one sentence. Never throws; changes no other
// thread.
std::string pin_calling_thread(int cpu);

// Binds the calling thread to a set, to give back what allowed_cpus() had returned. False: the kernel
// refused.
bool restrict_calling_thread(const std::vector<int>& cpus);

// What the calling thread has had of its hardware thread by now. Well under a microsecond.
struct running_time {
  std::chrono::nanoseconds cpu{};  // that it ran
  std::uint64_t given_up = 0;      // times that it went to sleep by itself
  std::uint64_t taken_away = 0;    // times that it lost its hardware thread although it wanted to go on
};
running_time running_time_now();
// The share of `elapsed`, between two of these, that others took from it; nothing where it slept by itself,
// which cannot be told from that. A kernel's thread that runs for microseconds takes next to nothing. Pure.
std::optional<double> share_taken(const running_time& before, const running_time& after,
                                  std::chrono::nanoseconds elapsed);

}  // namespace mgsync
