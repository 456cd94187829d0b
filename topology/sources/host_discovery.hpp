// Packages, NUMA nodes, caches and cores of this host, from hwloc.
#pragma once

#include <hwloc.h>

#include <vector>

#include "topology/machine.hpp"
#include "topology/sources/hwloc_gpus.hpp"

namespace mgsync::topology {

// The CPU side of this host, its network cards, and hwloc's own NVLink matrix where it has one.
struct host_answer {
  topology::machine machine;
  std::vector<nvlink_bandwidth> nvlinks;
  std::vector<found_nic> nics;
};

// Never throws; what hwloc cannot tell is a note.
host_answer discover_host();

// The CPU side of a topology that hwloc has loaded, from wherever: packages, NUMA nodes with CPUs, cores.
void add_cpu_side(machine&, hwloc_topology_t);

}  // namespace mgsync::topology
