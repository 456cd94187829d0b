// What connects two ends (GPU to GPU, or GPU to switch), and what a pair of GPUs can do to each other.
#pragma once

#include <optional>
#include <string>

namespace mgsync::topology {

enum class end_kind { gpu, nvswitch, cpu };

struct link_end {
  end_kind kind = end_kind::gpu;
  int id = 0;  // machine::gpus, machine::switches or package index
  bool operator==(const link_end&) const = default;
};

// `width` equal NVLinks between a and b.
struct link {
  link_end a;
  link_end b;
  int width = 1;
  int version = 0;       // NVLink generation; 0: unknown
  double gbps_each = 0;  // one direction, one link, GB/s; 0: unknown
  bool c2c = false;      // NVLink-C2C, between a GPU and the CPU beside it
  bool operator==(const link&) const = default;
};

// How near two GPUs are over PCIe, in the words of `nvidia-smi topo -m`.
enum class pcie_path { self, pix, pxb, phb, node, sys, unknown };

// What `from` can do to `to`'s memory.
struct peer {
  int from = 0;
  int to = 0;
  std::optional<bool> access;   // loads and stores
  std::optional<bool> atomics;  // native atomics over the link
  std::optional<int> performance_rank;
  pcie_path path = pcie_path::unknown;
  bool operator==(const peer&) const = default;
};

}  // namespace mgsync::topology
