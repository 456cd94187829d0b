// GPUs, PCIe paths and NVLinks as far as hwloc itself knows them.
#pragma once

#include <hwloc.h>

#include <string>
#include <utility>
#include <vector>

#include "topology/link.hpp"
#include "topology/machine.hpp"

namespace mgsync::topology {

// One entry of hwloc's NVLinkBandwidth matrix; an end is a GPU or a switch by PCI bus id, or a package.
struct nvlink_bandwidth {
  end_kind from_kind = end_kind::gpu, to_kind = end_kind::gpu;
  std::string from, to;
  int from_package = 0, to_package = 0;
  double gbps = 0;  // one direction
};

// Empty where hwloc has no NVML plugin.
std::vector<nvlink_bandwidth> nvlink_matrix(hwloc_topology_t);

// Makes links of the matrix, in a machine whose GPUs are known.
void add_links(machine&, const std::vector<nvlink_bandwidth>&);

// A note where the matrix and the machine's links disagree about a pair of GPUs; nothing when the matrix is
// empty.
void compare_links(machine&, const std::vector<nvlink_bandwidth>&);

// A network card, and how near it is to each GPU of the PCI bus.
struct found_nic {
  nic value;                                            // without gpu_paths
  std::vector<std::pair<std::string, pcie_path>> gpus;  // by PCI bus id
};

// The network and OpenFabrics objects with a PCI device, by bus id; those of one device are one card.
std::vector<found_nic> nics_of(const machine&, hwloc_topology_t);

// Gives them to a machine whose GPUs are known.
void add_nics(machine&, const std::vector<found_nic>&);

// GPUs from the NVML, CUDA and PCI objects of a topology from a file that mgsync did not write, their paths
// and links.
void add_hwloc_gpus(machine&, hwloc_topology_t);

}  // namespace mgsync::topology
