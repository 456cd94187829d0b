// Binding the calling thread to a CPU, believed only when the kernel confirms it. Not through hwloc, whose binding
// silently does nothing when its topology is not this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mgsync::topology {

// What the kernel says after a pin: the mask that is in force and the CPU that the thread runs on.
struct pin_result {
  bool pinned = false;        // the mask is exactly {cpu} and the thread runs there
  std::vector<int> mask;      // as sched_getaffinity gives it
  std::optional<int> cpu;     // as sched_getcpu gives it
  std::string reason;         // one sentence, empty when pinned
};

// Binds the calling thread to the one CPU with this OS index. Never throws; changes no other thread.
pin_result pin_this_thread(int cpu);

// Binds the calling thread to a set, to give back what allowed_cpus() had returned. False: the kernel refused.
bool restrict_this_thread(const std::vector<int>& cpus);

// The CPUs that the calling thread may run on, sorted; empty when the kernel does not tell.
std::vector<int> allowed_cpus();

}  // namespace mgsync::topology
