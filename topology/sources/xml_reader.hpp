// Reads a machine from untrusted hwloc XML.
#pragma once

#include <string>
#include <string_view>

#include "topology/machine.hpp"

namespace mgsync::topology {

// hwloc parses in a child process of bounded memory and time, because it crashes on hostile files: a crash of
// the child becomes a usage_error naming `origin`. GPUs and links come from our info attributes, else from
// hwloc's own GPU objects, PCI tree and NVLinkBandwidth matrix.
machine read_xml(std::string_view text, const std::string& origin);

}  // namespace mgsync::topology
