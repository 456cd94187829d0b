#include "topology/connection.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace mgsync::topology {
namespace {

// The links between one GPU and one switch or plane.
struct uplink {
  int links = 0;
  double gbps = 0;
};

// Switches joined by links form one plane, as traffic may cross between them.
std::vector<int> planes_of(const machine& m) {
  std::vector<int> plane(m.switches.size());
  std::iota(plane.begin(), plane.end(), 0);
  const auto root = [&](int s) {
    while (plane[static_cast<std::size_t>(s)] != s) s = plane[static_cast<std::size_t>(s)];
    return s;
  };
  for (const auto& l : m.links)
    if (l.a.kind == end_kind::nvswitch && l.b.kind == end_kind::nvswitch) {
      const int a = root(l.a.id), b = root(l.b.id);
      plane[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  for (std::size_t s = 0; s < plane.size(); ++s) plane[s] = root(static_cast<int>(s));
  return plane;
}

// The links that both share: on each switch the smaller of the two counts.
uplink shared(const std::map<int, uplink>& a, const std::map<int, uplink>& b) {
  uplink sum;
  for (const auto& [id, from] : a)
    if (const auto to = b.find(id); to != b.end()) {
      sum.links += std::min(from.links, to->second.links);
      sum.gbps += std::min(from.gbps, to->second.gbps);
    }
  return sum;
}

// Every GPU's NVLinks, counted by where they end.
class link_counts {
 public:
  explicit link_counts(const machine& m)
      : by_switch_(m.gpus.size()), by_plane_(m.gpus.size()), direct_(m.gpus.size()) {
    const auto plane = planes_of(m);
    for (const auto& l : m.links)
      for (const auto& [from, to] : {std::pair(l.a, l.b), std::pair(l.b, l.a)}) {
        if (from.kind == end_kind::nvswitch && to.kind == end_kind::nvswitch) trunks_known_ = true;
        if (from.kind != end_kind::gpu || to.kind == end_kind::cpu) continue;
        const auto gpu_index = static_cast<std::size_t>(from.id);
        if (to.kind == end_kind::gpu) {
          add(direct_[gpu_index][to.id], l);
        } else {
          add(by_switch_[gpu_index][to.id], l);
          add(by_plane_[gpu_index][plane[static_cast<std::size_t>(to.id)]], l);
        }
      }
  }

  // What two GPUs reach each other over; leaves a connection without NVLink as it is.
  void apply(int from, int to, connection& c) const {
    const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
    const auto near = direct_[a].find(to);
    const uplink direct = near == direct_[a].end() ? uplink{} : near->second;
    const uplink one = shared(by_switch_[a], by_switch_[b]), all = shared(by_plane_[a], by_plane_[b]);
    c.nvlinks = direct.links + all.links;
    c.gbps = direct.gbps + all.gbps;
    if (direct.links > 0) {
      c.reach = reach::direct;
    } else if (one.links > 0) {
      c.reach = reach::switched;
    } else if (all.links > 0) {
      c.reach = reach::trunk;
    } else if (!trunks_known_ && !by_plane_[a].empty() && !by_plane_[b].empty()) {
      c.reach = reach::unknown;
      c.between_domains = true;
    }
  }

  // GPUs join the planes that they have links to.
  int domains() const {
    std::vector<std::set<int>> found;
    for (const auto& planes : by_plane_) {
      std::set<int> one;
      for (const auto& [plane, up] : planes) one.insert(plane);
      if (one.empty()) continue;
      std::erase_if(found, [&](std::set<int>& other) {
        const bool joined =
            std::any_of(other.begin(), other.end(), [&](int plane) { return one.contains(plane); });
        if (joined) one.merge(other);
        return joined;
      });
      found.push_back(std::move(one));
    }
    return static_cast<int>(found.size());
  }

 private:
  static void add(uplink& u, const link& l) {
    u.links += l.width;
    u.gbps += l.width * l.gbps_each;
  }

  std::vector<std::map<int, uplink>> by_switch_, by_plane_, direct_;
  bool trunks_known_ = false;  // links between switches are known
};

// Where the driver reports no PCIe path, only the NUMA nodes tell something.
pcie_path path_by_locality(const connection& c, const gpu& a, const gpu& b) {
  if (!a.numa || !b.numa) return pcie_path::unknown;
  return c.same_numa ? pcie_path::node : pcie_path::sys;
}

reach reach_of(pcie_path path) {
  switch (path) {
  case pcie_path::self: return reach::direct;
  case pcie_path::pix: return reach::pix;
  case pcie_path::pxb: return reach::pxb;
  case pcie_path::phb: return reach::phb;
  case pcie_path::node: return reach::node;
  case pcie_path::sys: return reach::sys;
  case pcie_path::unknown: return reach::unknown;
  }
  return reach::unknown;
}

}  // namespace

std::optional<int> package_of(const machine& m, const gpu& g) {
  for (const auto& n : m.numa_nodes)
    if (g.numa == n.id) return n.package;
  return std::nullopt;
}

bool switches_hidden(const machine& m) {
  return std::any_of(m.switches.begin(), m.switches.end(), [](auto& s) { return s.pci_bus_id.empty(); });
}

int switch_domains(const machine& m) { return link_counts(m).domains(); }

connection_table::connection_table(const machine& m) : size_(m.gpus.size()), table_(size_ * size_) {
  const auto at = [&](int from, int to) -> connection& {
    return table_[static_cast<std::size_t>(from) * size_ + static_cast<std::size_t>(to)];
  };
  for (const auto& p : m.peers) {
    auto& c = at(p.from, p.to);
    c.path = p.path;
    c.access = p.access;
    c.atomics = p.atomics;
    c.performance_rank = p.performance_rank;
  }
  const link_counts links(m);
  std::vector<std::optional<int>> package;
  for (const auto& g : m.gpus) package.push_back(package_of(m, g));
  for (int from = 0; from < size(); ++from)
    for (int to = 0; to < size(); ++to) {
      auto& c = at(from, to);
      const auto i = static_cast<std::size_t>(from), j = static_cast<std::size_t>(to);
      c.same_numa = from == to || (m.gpus[i].numa && m.gpus[i].numa == m.gpus[j].numa);
      c.same_package = from == to || (package[i] && package[i] == package[j]);
      if (from == to) {
        c.path = pcie_path::self;
        c.reach = reach::direct;
        continue;
      }
      if (c.path == pcie_path::unknown) c.path = path_by_locality(c, m.gpus[i], m.gpus[j]);
      c.reach = reach_of(c.path);
      links.apply(from, to, c);
      if (!c.by_nvlink() && !c.between_domains && m.gpus[i].pcie_gbps && m.gpus[j].pcie_gbps)
        c.gbps = std::min(*m.gpus[i].pcie_gbps, *m.gpus[j].pcie_gbps);
    }
}

std::string matrix_word(const connection& c) {
  if (c.path == pcie_path::self) return "X";
  if (c.by_nvlink()) return fmt::format("NV{}", c.nvlinks);
  if (c.between_domains) return "?";
  switch (c.path) {
  case pcie_path::pix: return "PIX";
  case pcie_path::pxb: return "PXB";
  case pcie_path::phb: return "PHB";
  case pcie_path::node: return "NODE";
  case pcie_path::sys: return "SYS";
  case pcie_path::self:
  case pcie_path::unknown: break;
  }
  return "?";
}

}  // namespace mgsync::topology
