#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "topology/cpu_list.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology {
namespace {

// In a dot string only the quote and the backslash need care; `\n` of ours is written by the caller.
std::string dot_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
  }
  return result;
}

std::string gpu_node(const gpu& g) {
  return fmt::format("gpu{} [label=\"GPU {}{}\\n{}\\n{}\", fillcolor=\"{}\"];\n", g.id, g.id,
                     g.mig ? " (MIG)" : "", dot_text(short_model(g)),
                     g.cuda_ordinal ? dot_text(g.pci_bus_id) : "hidden from CUDA",
                     g.cuda_ordinal ? "#e3f2e1" : "#f2f2f2");
}

std::string numa_label(const machine& m, int node) {
  std::vector<int> cpus;
  std::size_t cores = 0;
  for (const auto& c : m.cores)
    if (c.numa == node) {
      cpus.insert(cpus.end(), c.cpus.begin(), c.cpus.end());
      ++cores;
    }
  std::sort(cpus.begin(), cpus.end());
  std::string list = write_cpu_list(cpus);
  if (list.size() > 32) list = list.substr(0, 30) + "..";
  return fmt::format("NUMA node {}\\n{} cores\\nCPUs {}", node, cores, list);
}

// The spring layout draws no clusters, so in a mesh each node names its package.
void write_cpu_side(std::string& out, const machine& m, bool mesh) {
  if (mesh) {
    for (const auto& n : m.numa_nodes)
      out += fmt::format("numa{} [label=\"package {}\\n{}\", fillcolor=\"#dbe5f1\"];\n", n.id, n.package,
                         numa_label(m, n.id));
    return;
  }
  for (const auto& p : m.packages) {
    out += fmt::format(
        "subgraph cluster_package{} {{\nlabel=\"package {}{}\"; style=filled; fillcolor=\"#eef2f7\"; "
        "color=\"#5b6b7f\";\n",
        p.id, p.id, p.model.empty() ? "" : "\\n" + dot_text(p.model));
    for (const auto& n : m.numa_nodes)
      if (n.package == p.id)
        out += fmt::format("numa{} [label=\"{}\", fillcolor=\"#dbe5f1\"];\n", n.id, numa_label(m, n.id));
    out += "}\n";
  }
}

std::string edge(std::string_view from, std::string_view to, const drawing& d, const bundle& b,
                 std::string_view more) {
  return fmt::format("{} -- {} [penwidth={:.1f}, color=\"#2f7d32\", label=\"{}\"{}];\n", from, to,
                     line_width(d, b), bundle_label(b), more);
}

void write_pcie(std::string& out, const machine& m, const drawing& d) {
  std::set<int> behind;
  for (std::size_t i = 0; i < d.pcie_switches.size(); ++i) {
    const auto& shared = d.pcie_switches[i];
    const auto& numa = m.gpus[static_cast<std::size_t>(shared.front())].numa;
    out += fmt::format("pcie{} [label=\"PCIe switch\", fillcolor=\"#f3f0ea\", height=0.3];\n", i);
    if (numa) out += fmt::format("numa{} -- pcie{} [color=\"#8a8f98\"];\n", *numa, i);
    for (const int id : shared) {
      out += fmt::format("pcie{} -- gpu{} [color=\"#8a8f98\"];\n", i, id);
      behind.insert(id);
    }
  }
  std::set<int> nodes;
  for (const auto& n : m.numa_nodes) nodes.insert(n.id);
  for (const auto& b : d.cpu) behind.insert(b.from);
  for (const auto& g : m.gpus)
    if (!behind.contains(g.id) && g.numa && nodes.contains(*g.numa))
      out += fmt::format("numa{} -- gpu{} [color=\"#8a8f98\"{}];\n", *g.numa, g.id,
                         g.pcie_gbps ? fmt::format(", label=\"PCIe {:.0f} GB/s\"", *g.pcie_gbps) : "");
}

void write_nics(std::string& out, const machine& m) {
  for (const auto& n : m.nics) {
    out += fmt::format("nic{} [label=\"NIC {}\", fillcolor=\"#fdebd8\", height=0.3];\n", n.id,
                       dot_text(nic_name(n)));
    const auto near = near_gpus(n);
    for (const int gpu : near) out += fmt::format("nic{} -- gpu{} [color=\"#b35900\"];\n", n.id, gpu);
    if (near.empty() && n.numa &&
        std::any_of(m.numa_nodes.begin(), m.numa_nodes.end(), [&](auto& node) { return node.id == *n.numa; }))
      out += fmt::format("numa{} -- nic{} [color=\"#b35900\"];\n", *n.numa, n.id);
  }
}

// In a mesh the lines cross too often for labels.
void write_legend(std::string& out, const drawing& d) {
  std::map<int, std::string> kinds;
  for (const auto& b : d.direct)
    kinds.emplace(b.links, fmt::format("{}: {}", b.links == d.most_links ? "dark green" : "light green",
                                       bundle_label(b)));
  std::string text;
  for (const auto& [links, what] : kinds) text += what + "\\n";
  out += fmt::format("legend [shape=plaintext, style=\"\", label=\"{}\"];\n", text);
}

}  // namespace

std::string write_dot(const machine& m) {
  const auto d = drawing_of(m);
  // A mesh has no hierarchy below its GPUs, so a spring layout draws it, and the CPU side has no frames.
  const bool mesh = !d.direct.empty() && m.gpus.size() > 2;
  std::string out =
      fmt::format("graph machine {{\nlabel=\"{}\"; labelloc=t; fontname=\"Helvetica\"; fontsize=18;\n"
                  "node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n"
                  "edge [fontname=\"Helvetica\", fontsize=10];\n{}",
                  dot_text(machine_title(m)),
                  mesh ? "layout=neato; overlap=false; splines=true; sep=\"+18\";\nedge [len=2.6];\n"
                       : "rankdir=TB; ranksep=0.9; nodesep=0.3;\n");
  write_cpu_side(out, m, mesh);
  for (const auto& g : m.gpus) out += gpu_node(g);
  write_pcie(out, m, d);
  for (const auto& b : d.cpu)
    for (const auto& n : m.numa_nodes)
      if (n.package == b.to && (m.gpus[static_cast<std::size_t>(b.from)].numa == n.id))
        out += b.c2c ? fmt::format(
                           "numa{} -- gpu{} [penwidth=2, color=\"#7b3fc4:white:#7b3fc4\", label=\"{}\"];\n",
                           n.id, b.from, bundle_label(b))
                     : edge(fmt::format("numa{}", n.id), fmt::format("gpu{}", b.from), d, b, "");
  write_nics(out, m);
  for (std::size_t i = 0; i < d.bars.size(); ++i)
    out += fmt::format("bar{} [label=\"{}\", fillcolor=\"#d5e8d4\", width={:.1f}];\n", i,
                       dot_text(d.bars[i].label),
                       std::max(2.0, static_cast<double>(d.bars[i].gpus.size()) * 0.8));
  for (const auto& b : d.up) out += edge(fmt::format("gpu{}", b.from), fmt::format("bar{}", b.to), d, b, "");
  for (const auto& b : d.trunks)
    out += edge(fmt::format("bar{}", b.from), fmt::format("bar{}", b.to), d, b, ", constraint=false");
  for (const auto& b : d.direct)
    out += fmt::format("gpu{} -- gpu{} [penwidth={:.1f}, color=\"{}\"{}];\n", b.from, b.to, line_width(d, b),
                       b.links == d.most_links ? "#1b5e20" : "#7cb342",
                       mesh ? "" : fmt::format(", minlen=3, label=\"{}\"", bundle_label(b)));
  if (mesh) write_legend(out, d);
  if (!mesh && !d.direct.empty()) out += "{ rank=same; gpu0; gpu1; }\n";
  return out + "}\n";
}

}  // namespace mgsync::topology
