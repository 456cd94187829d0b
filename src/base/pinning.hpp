// Binding the calling thread to CPUs, believed only when the kernel confirms it. Not through hwloc, whose binding
// silently does nothing when its topology is not this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mgsync {

// CPUs are named by their OS index, 0..most_cpus - 1.
inline constexpr int most_cpus = 65536;

// The CPUs that the calling thread may run on, sorted; empty when the kernel does not tell.
std::vector<int> allowed_cpus();

// Binds the calling thread to one CPU. An empty string once the mask that the kernel has in force is exactly that CPU
// and the thread runs there; otherwise why not, in one sentence. Never throws; changes no other thread.
std::string pin_calling_thread(int cpu);

// Binds the calling thread to a set, to give back what allowed_cpus() had returned. False: the kernel refused.
bool restrict_calling_thread(const std::vector<int>& cpus);

// How often the calling thread has lost its hardware thread although it wanted to go on. Well under a microsecond.
std::uint64_t involuntary_switches();

}  // namespace mgsync
