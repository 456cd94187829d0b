// Symmetric memory over the GPUs of one process: plain device memory that every GPU of the group may address.
#pragma once

#include <cstddef>
#include <vector>

#include "barriers/symmetric_memory/symmetric_memory.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// Zeroed memory of `bytes` on the GPU of each member, or why some GPU cannot address another's. All members are GPUs
// of this process.
allocation allocate_peer_memory(const topology::group&, std::size_t bytes);

// Why GPU members cannot share memory in one process, from what is known of the machine; empty when they can.
std::string why_no_peer_access(const topology::machine&, const topology::group&);

}  // namespace mgsync
