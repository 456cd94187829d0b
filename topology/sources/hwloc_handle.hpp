// Owner of a hwloc topology.
#pragma once

#include <hwloc.h>

#include "src/base/unique_handle.hpp"

namespace mgsync::topology {

struct hwloc_traits {
  using type = hwloc_topology_t;
  static type none() { return nullptr; }
  static void close(type topology) noexcept { hwloc_topology_destroy(topology); }
};
using hwloc_handle = unique_handle<hwloc_traits>;

// A new topology, not loaded yet; empty when hwloc has no memory. Its plugins that would start a GPU runtime
// (OpenCL, CUDA, X) are kept out: they are slow, and a CUDA context made here would cost the benchmark. So is
// the one for PCI, which leaks (2.9.0); hwloc then reads sysfs.
inline hwloc_handle new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return hwloc_handle{};
  for (const char* plugin : {"opencl", "cuda", "gl", "levelzero", "rsmi", "pci"})
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
  return hwloc_handle{topology};
}

}  // namespace mgsync::topology
