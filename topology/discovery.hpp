// Discovers the machine, from the hardware or from a file that describes one.
#pragma once

#include <optional>
#include <string>

#include "topology/machine.hpp"

namespace mgsync::topology {

struct discovery_request {
  std::optional<std::string>
      file;          // --topology FILE, of a form of topology/sources/file_source.hpp; replaces all else
  bool gpus = true;  // ask NVML and the CUDA driver; no CUDA context is made
};

// What this process sees. Never throws for hardware that is missing or does not answer: no GPU and no driver
// are an empty list and a note. Throws usage_error "file:line: ..." for a file that cannot be read or
// understood. Reads CUDA_VISIBLE_DEVICES through the CUDA driver, which fixes it for this process: set it
// before, not after.
machine discover(const discovery_request&);

// The version of hwloc that this was compiled with.
std::string hwloc_version();

}  // namespace mgsync::topology
