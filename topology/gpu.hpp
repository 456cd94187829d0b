// A GPU as plain values. Fields that no source reported are absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mgsync::topology {

struct gpu {
  int id = 0;                       // index on this machine, 0..n-1, by PCI bus id
  std::optional<int> cuda_ordinal;  // its ordinal in this process; absent when CUDA does not show it
  std::string name;                 // "NVIDIA H200"
  std::string uuid;                 // "GPU-..." or "MIG-..."
  std::string pci_bus_id;           // "0000:1b:00.0", lower case
  std::optional<int> numa;          // OS index of the nearest NUMA node
  std::vector<int> near_cpus;       // OS indices of the hardware threads near it; empty: unknown
  std::optional<int> compute_major;
  std::optional<int> compute_minor;
  std::optional<int> sm_count;
  std::optional<int> sm_clock_mhz;  // the largest the device reports
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> pcie_gbps;  // one direction, the most its slot carries, GB/s
  bool mig = false;                 // a MIG slice, or a GPU in MIG mode
  bool operator==(const gpu&) const = default;
};

// What tells a GPU of a host from its others, whichever rank names it: as much as its source told.
inline std::string identity_of(const gpu& g) {
  return !g.uuid.empty() ? g.uuid : !g.pci_bus_id.empty() ? g.pci_bus_id : "GPU " + std::to_string(g.id);
}

}  // namespace mgsync::topology
