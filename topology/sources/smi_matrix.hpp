// Reads what `nvidia-smi topo -m` prints: which GPUs a machine has, what joins each two of them, and which
// processors are near.
#pragma once

#include <string>
#include <string_view>

#include "topology/machine.hpp"

namespace mgsync::topology {

inline constexpr std::size_t max_matrix_bytes = std::size_t{1} << 20;

// Whether one of its first lines is a header of such a matrix; a prompt and blank lines may stand before it.
bool is_smi_matrix(std::string_view text);

// Adds GPUs, links, PCIe paths and the GPUs' processors and NUMA nodes. It says nothing of cores, of peer
// access and of speeds. NVLinks that are more than a GPU has end in a switch, which it does not name. Throws
// usage_error "origin:line: what is wrong".
void add_smi_matrix(machine&, std::string_view text, const std::string& origin);

}  // namespace mgsync::topology
