// A physical core and its hardware threads, as plain values.
#pragma once

#include <vector>

namespace mgsync::topology {

struct core {
  int id = 0;             // logical index on this machine, 0..n-1, in hwloc's order
  int package = 0;        // logical index of the package (socket)
  int numa = 0;           // OS index of the NUMA node (GPU-only nodes never appear here)
  int cache = 0;          // logical index of its last-level cache: cores with one number share it
  std::vector<int> cpus;  // OS indices of its hardware threads, all of them
  bool operator==(const core&) const = default;
};

}  // namespace mgsync::topology
