#include "topology/reports/drawing.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "topology/connection.hpp"

namespace mgsync::topology {
namespace {

std::vector<switch_bar> bars_of(const machine& m) {
  std::map<int, std::set<int>> gpus_at;
  for (const auto& l : m.links)
    for (const auto& [from, to] : {std::pair(l.a, l.b), std::pair(l.b, l.a)})
      if (from.kind == end_kind::gpu && to.kind == end_kind::nvswitch) gpus_at[to.id].insert(from.id);
  std::map<std::set<int>, switch_bar> bars;
  for (const auto& s : m.switches) {
    const auto& gpus = gpus_at[s.id];
    auto& bar = bars[gpus];
    bar.switches.push_back(s.id);
    bar.gpus.assign(gpus.begin(), gpus.end());
  }
  std::vector<switch_bar> result;
  for (auto& [gpus, bar] : bars) {
    const auto n = bar.switches.size();
    const bool hidden = m.switches[static_cast<std::size_t>(bar.switches.front())].pci_bus_id.empty();
    bar.label = hidden ? "NVSwitches (not visible)" : counted(n, "NVSwitch", "es");
    result.push_back(std::move(bar));
  }
  std::sort(result.begin(), result.end(), [](auto& a, auto& b) { return a.switches < b.switches; });
  return result;
}

int bar_of(const drawing& d, int nvswitch) {
  for (std::size_t i = 0; i < d.bars.size(); ++i)
    if (std::find(d.bars[i].switches.begin(), d.bars[i].switches.end(), nvswitch) != d.bars[i].switches.end())
      return static_cast<int>(i);
  return 0;
}

void add(std::vector<bundle>& bundles, int from, int to, const link& l) {
  auto found =
      std::find_if(bundles.begin(), bundles.end(), [&](auto& b) { return b.from == from && b.to == to; });
  if (found == bundles.end()) found = bundles.insert(bundles.end(), {from, to, 0, 0, l.c2c});
  found->links += l.width;
  found->gbps += l.width * l.gbps_each;
}

void add_links(drawing& d, const machine& m) {
  for (const auto& l : m.links) {
    auto a = l.a, b = l.b;
    if (a.kind > b.kind) std::swap(a, b);
    if (b.kind == end_kind::gpu) {
      add(d.direct, std::min(a.id, b.id), std::max(a.id, b.id), l);
    } else if (a.kind == end_kind::gpu && b.kind == end_kind::nvswitch) {
      add(d.up, a.id, bar_of(d, b.id), l);
    } else if (a.kind == end_kind::gpu) {
      add(d.cpu, a.id, b.id, l);
    } else if (b.kind == end_kind::nvswitch) {
      const int from = bar_of(d, a.id), to = bar_of(d, b.id);
      if (from != to) add(d.trunks, std::min(from, to), std::max(from, to), l);
    }
  }
  for (const auto* bundles : {&d.up, &d.direct, &d.trunks})
    for (const auto& b : *bundles) {
      d.most_gbps = std::max(d.most_gbps, b.gbps);
      d.most_links = std::max(d.most_links, b.links);
    }
}

void add_pcie_switches(drawing& d, const machine& m) {
  const connection_table connections(m);
  std::set<int> placed;
  for (int a = 0; a < connections.size(); ++a) {
    std::vector<int> together{a};
    for (int b = a + 1; b < connections.size(); ++b)
      if (const auto path = connections(a, b).path; path == pcie_path::pix || path == pcie_path::pxb)
        together.push_back(b);
    if (together.size() < 2 || placed.contains(a)) continue;
    placed.insert(together.begin(), together.end());
    d.pcie_switches.push_back(std::move(together));
  }
}

}  // namespace

drawing drawing_of(const machine& m) {
  drawing d;
  d.bars = bars_of(m);
  add_links(d, m);
  add_pcie_switches(d, m);
  return d;
}

std::vector<int> near_gpus(const nic& n, pcie_path furthest) {
  std::vector<int> near;
  const auto least = std::min_element(n.gpu_paths.begin(), n.gpu_paths.end());
  if (least == n.gpu_paths.end() || *least > furthest) return near;
  for (std::size_t i = 0; i < n.gpu_paths.size(); ++i)
    if (n.gpu_paths[i] == *least) near.push_back(static_cast<int>(i));
  return near;
}

std::string nic_name(const nic& n) {
  return !n.name.empty() ? n.name : !n.interface.empty() ? n.interface : fmt::format("NIC {}", n.id);
}

std::vector<unit> units_of(const machine& m) {
  std::map<std::pair<bool, int>, unit> by_place;  // trays, then packages
  std::map<int, unit*> of_node;
  for (const auto& p : m.packages) {
    auto& u = by_place[{!p.tray, p.tray.value_or(p.id)}];
    u.title = fmt::format("{} {}", p.tray ? "tray" : "package", p.tray.value_or(p.id));
    u.packages.push_back(p.id);
    for (const auto& n : m.numa_nodes)
      if (n.package == p.id) of_node[n.id] = &u;
  }
  unit rest{"no NUMA node known", {}, {}, {}};
  const auto home = [&](const std::optional<int>& numa) -> unit& {
    const auto found = numa ? of_node.find(*numa) : of_node.end();
    return found == of_node.end() ? rest : *found->second;
  };
  for (const auto& g : m.gpus) home(g.numa).gpus.push_back(g.id);
  for (const auto& n : m.nics) {
    const auto near = near_gpus(n);
    home(near.empty() ? n.numa : m.gpus[static_cast<std::size_t>(near.front())].numa).nics.push_back(n.id);
  }
  std::vector<unit> units;
  for (auto& [place, u] : by_place) units.push_back(std::move(u));
  if (!rest.gpus.empty() || !rest.nics.empty()) units.push_back(std::move(rest));
  return units;
}

bool is_folded(const machine& m) {
  return m.gpus.size() > most_unfolded && std::none_of(m.links.begin(), m.links.end(), [](auto& l) {
           return l.a.kind == end_kind::gpu && l.b.kind == end_kind::gpu;
         });
}

double line_width(const drawing& d, const bundle& b) {
  const double share = d.most_gbps > 0 && b.gbps > 0 ? b.gbps / d.most_gbps : double(b.links) / d.most_links;
  return 1.2 + 5.8 * std::min(share, 1.0);
}

std::string bundle_label(const bundle& b) {
  const auto links = counted(b.links, "link");
  if (b.c2c) return b.gbps > 0 ? fmt::format("NVLink-C2C, {:.0f} GB/s", b.gbps) : "NVLink-C2C";
  return b.gbps > 0 ? fmt::format("{}, {:.0f} GB/s", links, b.gbps) : links;
}

std::string machine_title(const machine& m) {
  const std::string host = m.host.empty() ? "machine" : m.host;
  if (m.gpus.empty()) return fmt::format("{}: no GPU", host);
  const bool alike =
      std::all_of(m.gpus.begin(), m.gpus.end(), [&](auto& g) { return g.name == m.gpus.front().name; });
  const bool c2c = std::any_of(m.links.begin(), m.links.end(), [](auto& l) { return l.c2c; });
  const bool cpu_only = std::all_of(m.links.begin(), m.links.end(), [](auto& l) {
    return l.a.kind == end_kind::cpu || l.b.kind == end_kind::cpu;
  });
  const std::string how = m.links.empty()      ? "no NVLink"
                          : switches_hidden(m) ? "NVLink switched, switches not visible"
                          : cpu_only           ? (c2c ? "NVLink-C2C to the CPU" : "NVLink to the CPU")
                          : m.switches.empty()
                              ? "NVLink between pairs"
                              : fmt::format("NVLink switched by {} NVSwitches", m.switches.size());
  return fmt::format("{}: {} x {}, {}{}", host, m.gpus.size(),
                     alike && !m.gpus.front().name.empty() ? m.gpus.front().name : "GPU", how,
                     c2c && !cpu_only ? ", NVLink-C2C to the CPUs" : "");
}

std::string short_model(const gpu& g) {
  for (const std::string_view word : {"NVIDIA ", "Tesla "})
    if (g.name.starts_with(word)) return g.name.substr(word.size());
  return g.name;
}

}  // namespace mgsync::topology
