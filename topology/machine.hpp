// One machine (host) as this process sees it: plain values, no vendor type, comparable and copyable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/core.hpp"
#include "topology/gpu.hpp"
#include "topology/link.hpp"

namespace mgsync::topology {

struct package {
  int id = 0;                              // logical index
  std::string model;                       // CPU model name; may be empty
  std::optional<int> tray = std::nullopt;  // the compute tray of a rack that it is in; absent: no source told
  bool operator==(const package&) const = default;
};

struct numa_node {
  int id = 0;       // OS index
  int package = 0;  // logical index of its package
  bool operator==(const numa_node&) const = default;
};

struct nvswitch {
  int id = 0;
  std::string pci_bus_id;  // empty: not visible (virtual machine), inferred from the links that end in no GPU
  bool operator==(const nvswitch&) const = default;
};

// A network card with a PCI device of its own, by the names that libraries ask for.
struct nic {
  int id = 0;
  std::string name;       // "mlx5_0", of verbs (NCCL_IB_HCA); may be empty
  std::string interface;  // "ib0" (NCCL_SOCKET_IFNAME); may be empty
  std::string pci_bus_id;
  std::optional<int> numa;           // OS index of the nearest NUMA node
  std::vector<pcie_path> gpu_paths;  // by GPU id, how near it is; empty: unknown
  bool operator==(const nic&) const = default;
};

// A limit on CPU time, not on the number of processors: threads that use more are stopped for the rest of
// each period.
struct cpu_quota {
  double cpus = 0;     // the CPU time per time, as a number of processors
  std::string cgroup;  // the cgroup that has the limit; processes of a host with the same one share it
  bool operator==(const cpu_quota&) const = default;
};

struct machine {
  std::string host;              // host name
  std::string source;            // "this machine" or the file it was read from
  bool is_this_machine = false;  // otherwise nothing may be pinned
  std::vector<package> packages;
  std::vector<numa_node> numa_nodes;
  std::vector<core> cores;         // all cores of the machine
  std::vector<int> allowed_cpus;   // hardware threads this process may use (its affinity mask), sorted
  std::optional<cpu_quota> quota;  // the tightest one of this process's cgroup and those around it
  std::vector<gpu> gpus;
  std::vector<std::string> unseen_gpus;  // PCI bus ids of NVIDIA GPUs here that neither NVML nor CUDA shows
  std::string
      cuda_problem;  // why CUDA shows fewer GPUs than NVML, a sentence; empty: it does not, or unknown
  std::vector<nvswitch> switches;
  std::vector<link> links;
  std::vector<nic> nics;
  std::vector<peer> peers;         // one per ordered pair that was asked
  std::vector<std::string> notes;  // what a source could not tell, one sentence each
  bool operator==(const machine&) const = default;
};

}  // namespace mgsync::topology
