// File descriptors from every process of a host to every other one, over sockets that have no file.
#pragma once

#include <vector>

#include "barriers/parts/symmetric_memory/gpu_memory.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {

// The descriptors that every process passed, by process and in its order (none from the caller itself); or
// why it does not work, alike in all processes.
struct passed_descriptors {
  std::vector<std::vector<unique_descriptor>> by_process;
  std::string reason;
};

// Collective over the processes, which run as one user. `mine` stay the caller's.
passed_descriptors pass_descriptors(const gpu_members&, const std::vector<int>& mine);

}  // namespace mgsync
