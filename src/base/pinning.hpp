// Binds the calling thread to CPUs, and asks the kernel whether it did. Not through hwloc, which silently
// does nothing when its topology is not that of this machine.
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

// Binds the calling thread to one CPU. Returns an empty string once the kernel reports exactly that CPU as
// the thread's mask and the thread runs there; otherwise one sentence that says why not. Never throws.
std::string pin_calling_thread(int cpu);

// Binds the calling thread to a set of CPUs, such as what allowed_cpus() had returned. False: the kernel
// refused.
bool restrict_calling_thread(const std::vector<int>& cpus);

// How long the calling thread has run so far, and how often it was switched out. Reading it takes well under
// a microsecond.
struct running_time {
  std::chrono::nanoseconds cpu{};  // the time that it ran
  std::uint64_t given_up = 0;      // times that it went to sleep of its own accord
  std::uint64_t taken_away = 0;    // times that it was preempted
};
running_time running_time_now();
// The share of `elapsed`, the time between two of these, in which the thread was preempted. Nothing where it
// also slept of its own accord, since both are then indistinguishable. Pure.
std::optional<double> share_taken(const running_time& before, const running_time& after,
                                  std::chrono::nanoseconds elapsed);

}  // namespace mgsync
