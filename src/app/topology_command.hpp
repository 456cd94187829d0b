// `mgsync topology`: the machine as mgsync sees it.
#pragma once

#include "src/app/options.hpp"
#include "src/base/communicator.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// Collective over the job; rank 0 prints. Returns the exit code.
int topology_command(const options&, communicator& job, topology::machine mine);

}  // namespace mgsync
