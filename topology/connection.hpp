// How two GPUs of a machine are connected, taken together from links, switches, PCIe and the CPU side. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace mgsync::topology {

// From best to worst.
enum class reach {
  direct,    // NVLinks from one to the other
  switched,  // both on one NVSwitch (or on one plane of hidden ones)
  trunk,     // NVLink through more than one NVSwitch
  pix,
  pxb,
  phb,
  node,
  sys,  // no NVLink: PCIe, in the words of nvidia-smi
  unknown
};

struct connection {
  topology::reach reach = reach::unknown;
  int nvlinks = 0;  // that carry traffic between the two: the smaller of both ends' counts
  double gbps = 0;  // of these, one direction; without NVLink what PCIe carries; 0: unknown
  pcie_path path = pcie_path::unknown;
  // Both have NVLinks to NVSwitches, but of two domains, and no source told what connects these. `reach` is
  // then unknown.
  bool between_domains = false;
  bool same_package = false;  // judged by the GPUs' NUMA nodes
  bool same_numa = false;
  std::optional<bool> access;
  std::optional<bool> atomics;
  std::optional<int> performance_rank;
  bool by_nvlink() const { return nvlinks > 0; }
  bool operator==(const connection&) const = default;
};

// Every ordered pair of a machine's GPUs. A GPU with itself is pcie_path::self and same everything.
class connection_table {
 public:
  explicit connection_table(const machine&);
  const connection& operator()(int from, int to) const {
    return table_[static_cast<std::size_t>(from) * size_ + static_cast<std::size_t>(to)];
  }
  int size() const { return static_cast<int>(size_); }

 private:
  std::size_t size_;
  std::vector<connection> table_;
};

// The word that users of `nvidia-smi topo -m` know: X, NV#, PIX, PXB, PHB, NODE, SYS; "?" when no source told
// the path, or whether there is NVLink.
std::string matrix_word(const connection&);

// The package that a GPU hangs on, judged by its NUMA node.
std::optional<int> package_of(const machine&, const gpu&);

// Whether the machine's NVLinks end in switches that it does not show.
bool switches_hidden(const machine&);

// How many sets of NVSwitches with GPUs there are that no known link joins. More than one means little where
// no link between switches is known at all, as NVML and hwloc do not report those.
int switch_domains(const machine&);

}  // namespace mgsync::topology
