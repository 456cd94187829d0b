#include "topology/sources/hwloc_gpus.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "topology/connection.hpp"
#include "topology/cpu_list.hpp"

namespace mgsync::topology {
namespace {

constexpr std::size_t max_nics = 256;  // as many as a description may have

std::string bus_id(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain), unsigned{pci.bus},
                     unsigned{pci.dev}, unsigned{pci.func});
}

hwloc_obj_t pci_parent(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  return object;
}

std::string text_of(const char* text) { return text == nullptr ? std::string{} : text; }

std::string info_of(hwloc_obj_t object, const char* name) {
  return text_of(hwloc_obj_get_info_by_name(object, name));
}

bool is(hwloc_obj_t object, std::string_view subtype, std::string_view prefix) {
  return text_of(object->subtype) == subtype || text_of(object->name).starts_with(prefix);
}

struct seen_gpu {
  gpu value;
  hwloc_obj_t pci = nullptr;
};

// The CPU side that a PCI device hangs on.
hwloc_obj_t outside_of(hwloc_obj_t pci) {
  hwloc_obj_t outside = pci == nullptr ? nullptr : pci->parent;
  while (outside != nullptr && outside->cpuset == nullptr) outside = outside->parent;
  return outside == nullptr || outside->nodeset == nullptr ? nullptr : outside;
}

std::optional<int> numa_of(hwloc_obj_t outside) {
  return outside != nullptr && hwloc_bitmap_weight(outside->nodeset) == 1
             ? std::optional(hwloc_bitmap_first(outside->nodeset))
             : std::nullopt;
}

void add_locality(const machine& m, seen_gpu& g) {
  const auto outside = outside_of(g.pci);
  if (outside == nullptr) return;
  g.value.numa = numa_of(outside);
  for (const auto& c : m.cores)
    for (const int cpu : c.cpus)
      if (hwloc_bitmap_isset(outside->cpuset, static_cast<unsigned>(cpu)) != 0)
        g.value.near_cpus.push_back(cpu);
  std::sort(g.value.near_cpus.begin(), g.value.near_cpus.end());
}

// NVML's objects say the UUID, CUDA's the ordinal; a plain PCI display device says the model.
std::vector<seen_gpu> gpus_of(const machine& m, hwloc_topology_t t) {
  std::map<std::string, seen_gpu> by_bus;
  for (hwloc_obj_t d = nullptr; (d = hwloc_get_next_pcidev(t, d)) != nullptr;) {
    const auto& pci = d->attr->pcidev;
    if (pci.vendor_id != 0x10de || (pci.class_id >> 8) != 0x03) continue;
    auto& g = by_bus[bus_id(d)];
    g.pci = d;
    g.value.name = info_of(d, "PCIDevice");
    if (pci.linkspeed > 0) g.value.pcie_gbps = std::round(static_cast<double>(pci.linkspeed) * 1000) / 1000;
  }
  for (hwloc_obj_t d = nullptr; (d = hwloc_get_next_osdev(t, d)) != nullptr;) {
    const auto pci = pci_parent(d);
    if (pci == nullptr) continue;
    const bool nvml = is(d, "NVML", "nvml"), cuda = is(d, "CUDA", "cuda");
    if (!nvml && !cuda) continue;
    auto& g = by_bus[bus_id(pci)];
    g.pci = pci;
    if (const auto model = info_of(d, "GPUModel"); !model.empty()) g.value.name = model;
    if (nvml) g.value.uuid = info_of(d, "NVIDIAUUID");
    if (cuda) {
      g.value.cuda_ordinal = parse_number(
          std::string_view(text_of(d->name)).substr(std::min<std::size_t>(4, text_of(d->name).size())));
      g.value.sm_count = parse_number(info_of(d, "CUDAMultiProcessors"));
    }
  }
  std::vector<seen_gpu> result;
  for (auto& [bus, g] : by_bus) {
    g.value.id = static_cast<int>(result.size());
    g.value.pci_bus_id = bus;
    add_locality(m, g);
    result.push_back(g);
  }
  // A file without CUDA objects: CUDA numbers GPUs by bus id when asked to (CUDA_DEVICE_ORDER=PCI_BUS_ID).
  if (std::none_of(result.begin(), result.end(), [](auto& g) { return g.value.cuda_ordinal.has_value(); }))
    for (auto& g : result) g.value.cuda_ordinal = g.value.id;
  return result;
}

bool host_bridge(hwloc_obj_t o) {
  return o->type == HWLOC_OBJ_BRIDGE && o->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
}

std::vector<hwloc_obj_t> ancestors(hwloc_obj_t o) {
  std::vector<hwloc_obj_t> result;
  for (o = o->parent; o != nullptr; o = o->parent) result.push_back(o);
  return result;
}

// By NVIDIA's words: one PCIe switch (its upstream and downstream ports), several, a host bridge, a NUMA
// node, beyond.
pcie_path path_between(hwloc_obj_t a, hwloc_obj_t b, bool one_node) {
  const auto up_a = ancestors(a), up_b = ancestors(b);
  for (std::size_t i = 0; i < up_a.size(); ++i) {
    const auto found = std::find(up_b.begin(), up_b.end(), up_a[i]);
    if (found == up_b.end()) continue;
    if (up_a[i]->type == HWLOC_OBJ_BRIDGE) {
      if (host_bridge(up_a[i])) return pcie_path::phb;
      return i <= 1 && found - up_b.begin() <= 1 ? pcie_path::pix : pcie_path::pxb;
    }
    return one_node ? pcie_path::node : pcie_path::sys;
  }
  return pcie_path::unknown;
}

bool matrix_end(hwloc_obj_t o, end_kind& kind, std::string& bus, int& package) {
  if (o == nullptr) return false;
  if (o->type == HWLOC_OBJ_OS_DEVICE || o->type == HWLOC_OBJ_PCI_DEVICE) {
    const auto pci = pci_parent(o);
    if (pci == nullptr) return false;
    kind = o->type == HWLOC_OBJ_PCI_DEVICE || text_of(o->subtype) == "NVSwitch" ? end_kind::nvswitch
                                                                                : end_kind::gpu;
    bus = bus_id(pci);
    return true;
  }
  kind = end_kind::cpu;
  while (o != nullptr && o->type != HWLOC_OBJ_PACKAGE) o = o->parent;
  package = o == nullptr ? 0 : static_cast<int>(o->logical_index);
  return true;
}

// How many links of a usual speed make this bandwidth.
std::pair<int, double> width_of(double gbps) {
  for (const double each : {25.0, 20.0, 50.0})
    if (const double count = gbps / each;
        count >= 1 && count <= 64 && std::abs(count - std::round(count)) < 1e-6)
      return {static_cast<int>(std::round(count)), each};
  return {1, gbps};
}

std::optional<link_end> end_in(machine& m, end_kind kind, const std::string& bus, int package) {
  if (kind == end_kind::cpu)
    return package < static_cast<int>(m.packages.size()) ? std::optional(link_end{kind, package})
                                                         : std::nullopt;
  if (kind == end_kind::gpu) {
    for (const auto& g : m.gpus)
      if (g.pci_bus_id == bus) return link_end{kind, g.id};
    return std::nullopt;
  }
  for (const auto& s : m.switches)
    if (s.pci_bus_id == bus) return link_end{kind, s.id};
  m.switches.push_back({static_cast<int>(m.switches.size()), bus});
  return link_end{kind, m.switches.back().id};
}

}  // namespace

std::vector<nvlink_bandwidth> nvlink_matrix(hwloc_topology_t t) {
  std::vector<nvlink_bandwidth> result;
  unsigned count = 1;
  hwloc_distances_s* matrix = nullptr;
  if (hwloc_distances_get_by_name(t, "NVLinkBandwidth", &count, &matrix, 0) != 0 || count == 0 ||
      matrix == nullptr)
    return result;
  for (unsigned from = 0; from < matrix->nbobjs; ++from)
    for (unsigned to = from + 1; to < matrix->nbobjs; ++to) {
      const auto mbps = matrix->values[from * matrix->nbobjs + to];
      nvlink_bandwidth entry;
      if (mbps == 0 || matrix->objs[from] == matrix->objs[to]) continue;
      if (!matrix_end(matrix->objs[from], entry.from_kind, entry.from, entry.from_package)) continue;
      if (!matrix_end(matrix->objs[to], entry.to_kind, entry.to, entry.to_package)) continue;
      entry.gbps = static_cast<double>(mbps) / 1000;
      if (std::isfinite(entry.gbps) && entry.gbps < 1e6) result.push_back(entry);
    }
  hwloc_distances_release(t, matrix);
  return result;
}

void add_links(machine& m, const std::vector<nvlink_bandwidth>& matrix) {
  for (const auto& entry : matrix) {
    const auto from = end_in(m, entry.from_kind, entry.from, entry.from_package);
    const auto to = end_in(m, entry.to_kind, entry.to, entry.to_package);
    if (!from || !to || *from == *to) continue;
    const auto [width, each] = width_of(entry.gbps);
    m.links.push_back({*from, *to, width, 0, each});
  }
  if (!matrix.empty())
    m.notes.push_back(
        "The number of NVLinks is inferred from hwloc's NVLinkBandwidth matrix; their version is unknown.");
}

void compare_links(machine& m, const std::vector<nvlink_bandwidth>& matrix) {
  if (matrix.empty()) return;
  machine other = m;
  other.links.clear();
  other.switches.clear();
  add_links(other, matrix);
  const connection_table ours(m), theirs(other);
  for (int a = 0; a < ours.size(); ++a)
    for (int b = a + 1; b < ours.size(); ++b) {
      const double x = ours(a, b).by_nvlink() ? ours(a, b).gbps : 0;
      const double y = theirs(a, b).by_nvlink() ? theirs(a, b).gbps : 0;
      if (std::abs(x - y) > 0.15 * std::max(x, y))
        m.notes.push_back(
            fmt::format("GPUs {} and {}: NVML counts {:.0f} GB/s of NVLink, hwloc's NVLinkBandwidth matrix "
                        "{:.0f} GB/s.",
                        a, b, x, y));
    }
}

std::vector<found_nic> nics_of(const machine& m, hwloc_topology_t t) {
  std::map<std::string, std::pair<nic, hwloc_obj_t>> by_bus;
  for (hwloc_obj_t d = nullptr; (d = hwloc_get_next_osdev(t, d)) != nullptr;) {
    const auto type = d->attr->osdev.type;
    const auto pci = pci_parent(d);
    if (pci == nullptr || (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS)) continue;
    auto& [card, device] = by_bus[bus_id(pci)];
    device = pci;
    auto& name = type == HWLOC_OBJ_OSDEV_OPENFABRICS ? card.name : card.interface;
    if (name.empty()) name = text_of(d->name);
  }
  const auto gpus = gpus_of(m, t);
  std::vector<found_nic> result;
  for (auto& [bus, one] : by_bus) {
    auto& [card, device] = one;
    card.id = static_cast<int>(result.size());
    card.pci_bus_id = bus;
    card.numa = numa_of(outside_of(device));
    found_nic found{card, {}};
    for (const auto& g : gpus)
      if (g.pci != nullptr)
        found.gpus.emplace_back(g.value.pci_bus_id,
                                path_between(g.pci, device, card.numa && card.numa == g.value.numa));
    result.push_back(std::move(found));
    if (result.size() == max_nics) break;
  }
  return result;
}

void add_nics(machine& m, const std::vector<found_nic>& all) {
  for (const auto& found : all) {
    nic card = found.value;
    bool told = false;
    for (const auto& g : m.gpus) {
      const auto its = std::find_if(found.gpus.begin(), found.gpus.end(),
                                    [&](auto& one) { return one.first == g.pci_bus_id; });
      card.gpu_paths.push_back(its == found.gpus.end() ? pcie_path::unknown : its->second);
      told = told || card.gpu_paths.back() != pcie_path::unknown;
    }
    if (!told) card.gpu_paths.clear();
    m.nics.push_back(std::move(card));
  }
}

void add_hwloc_gpus(machine& m, hwloc_topology_t t) {
  const auto gpus = gpus_of(m, t);
  for (const auto& g : gpus) m.gpus.push_back(g.value);
  add_links(m, nvlink_matrix(t));
  add_nics(m, nics_of(m, t));
  for (const auto& a : gpus)
    for (const auto& b : gpus)
      if (a.value.id != b.value.id) {
        peer p;
        p.from = a.value.id;
        p.to = b.value.id;
        p.path = path_between(a.pci, b.pci, a.value.numa && a.value.numa == b.value.numa);
        m.peers.push_back(p);
      }
  if (!gpus.empty()) m.notes.push_back("hwloc XML does not say which GPUs can reach each other's memory.");
}

}  // namespace mgsync::topology
