#include "topology/sources/host_discovery.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "src/base/hosts.hpp"
#include "src/base/pinning.hpp"
#include "topology/discovery.hpp"
#include "topology/sources/cpu_quota.hpp"
#include "topology/sources/hwloc_handle.hpp"

namespace mgsync::topology {
namespace {

std::vector<int> members_of(hwloc_const_cpuset_t set) {
  std::vector<int> result;
  if (set == nullptr || hwloc_bitmap_weight(set) < 0) return result;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) result.push_back(i);
  return result;
}

// The outermost cache that still is a part of the package: cores that share it are the nearest ones.
hwloc_obj_t last_cache(hwloc_obj_t object) {
  hwloc_obj_t last = nullptr;
  for (; object != nullptr && object->type != HWLOC_OBJ_PACKAGE; object = object->parent)
    if (hwloc_obj_type_is_dcache(object->type)) last = object;
  return last;
}

// Where cores are unknown (a virtual machine that shows none), each hardware thread is taken as a core.
hwloc_obj_type_t core_type(hwloc_topology_t t) {
  return hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

int package_of(hwloc_topology_t t, hwloc_obj_t object) {
  const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, object);
  return package == nullptr ? 0 : static_cast<int>(package->logical_index);
}

void add_packages(machine& m, hwloc_topology_t t) {
  for (hwloc_obj_t p = nullptr; (p = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PACKAGE, p)) != nullptr;) {
    const char* model = hwloc_obj_get_info_by_name(p, "CPUModel");
    m.packages.push_back({static_cast<int>(p->logical_index), model == nullptr ? "" : model});
  }
  if (m.packages.empty()) m.packages.push_back({0, ""});
}

}  // namespace

void add_cpu_side(machine& m, hwloc_topology_t t) {
  add_packages(m, t);
  std::map<int, int> nodes;  // NUMA node -> package
  std::map<hwloc_obj_t, int> caches;
  const auto type = core_type(t);
  for (hwloc_obj_t c = nullptr; (c = hwloc_get_next_obj_by_type(t, type, c)) != nullptr;) {
    core result;
    result.id = static_cast<int>(m.cores.size());
    result.package = package_of(t, c);
    const int node = c->nodeset == nullptr ? -1 : hwloc_bitmap_first(c->nodeset);
    result.numa = std::max(node, 0);
    nodes.emplace(result.numa, result.package);
    if (const auto cache = last_cache(c); cache != nullptr)
      result.cache = caches.emplace(cache, static_cast<int>(caches.size())).first->second;
    result.cpus = members_of(c->cpuset);
    if (!result.cpus.empty()) m.cores.push_back(std::move(result));
  }
  for (const auto& [node, package] : nodes) m.numa_nodes.push_back({node, package});
}

host_answer discover_host() {
  host_answer answer;
  machine& m = answer.machine;
  m.host = host_name();
  m.source = "this machine";
  m.allowed_cpus = allowed_cpus();
  m.quota = read_cpu_quota();
  const hwloc_handle topology = new_topology();
  // Disallowed cores are listed too: the machine is the whole one, allowed_cpus says what of it is ours.
  if (topology) hwloc_topology_set_io_types_filter(topology.get(), HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (!topology || hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    m.notes.push_back("hwloc could not load this machine: its cores are unknown, nothing will be pinned.");
    return answer;
  }
  m.is_this_machine = hwloc_topology_is_thissystem(topology.get()) != 0;
  if (!m.is_this_machine)
    m.notes.push_back(
        "hwloc shows another machine than this one (HWLOC_XMLFILE or HWLOC_SYNTHETIC is set): nothing "
        "will be pinned.");
  add_cpu_side(m, topology.get());
  answer.nvlinks = nvlink_matrix(topology.get());
  answer.nics = nics_of(m, topology.get());
  return answer;
}

std::string hwloc_version() { return HWLOC_VERSION; }

}  // namespace mgsync::topology
