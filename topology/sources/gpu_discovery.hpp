// The GPUs of this host, their links and what each can do to the others: NVML and the CUDA driver, joined.
#pragma once

#include "topology/machine.hpp"

namespace mgsync::topology {

// Adds GPUs, switches, links and peers to a machine whose CPU side is known. Neither library is needed to
// build, and one that is missing or does not answer is a note. Makes no CUDA context.
void add_gpus(machine&);

}  // namespace mgsync::topology
