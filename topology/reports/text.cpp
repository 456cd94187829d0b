#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "topology/connection.hpp"
#include "topology/cpu_list.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"
#include "topology/reports/survey.hpp"

namespace mgsync::topology {
namespace {

constexpr std::size_t widest_matrix = 32;  // GPUs; with more, a matrix is printed only if its entries differ

std::string or_unknown(const std::string& text) { return text.empty() ? "?" : text; }

template <class T>
std::string or_unknown(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "?";
}

// Columns as wide as their widest cell, two spaces apart, indented by two.
class columns {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (widths.size() <= i) widths.push_back(0);
        widths[i] = std::max(widths[i], row[i].size());
      }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

void write_cpus(std::string& out, const machine& m) {
  if (m.cores.empty() && m.allowed_cpus.empty()) {
    out += fmt::format("Machine {} ({})\n  its CPUs are not told there\n", or_unknown(m.host),
                       or_unknown(m.source));
    return;
  }
  std::size_t threads = 0;
  for (const auto& c : m.cores) threads += c.cpus.size();
  out += fmt::format("Machine {} ({})\n", or_unknown(m.host), or_unknown(m.source));
  out += fmt::format("  {}, {}, {}, {}\n", counted(m.packages.size(), "package"),
                     counted(m.numa_nodes.size(), "NUMA node"), counted(m.cores.size(), "core"),
                     counted(threads, "hardware thread"));
  out += fmt::format("  this process may use {}{}\n", counted(m.allowed_cpus.size(), "CPU"),
                     m.allowed_cpus.empty() ? "" : ": " + write_cpu_list(m.allowed_cpus));
  for (const auto& n : m.numa_nodes) {
    std::vector<int> cpus;
    for (const auto& c : m.cores)
      if (c.numa == n.id) cpus.insert(cpus.end(), c.cpus.begin(), c.cpus.end());
    std::sort(cpus.begin(), cpus.end());
    const auto& model = m.packages[static_cast<std::size_t>(n.package)].model;
    out += fmt::format("  NUMA node {}: package {}{}, CPUs {}\n", n.id, n.package,
                       model.empty() ? "" : " (" + model + ")", write_cpu_list(cpus));
  }
}

void write_gpus(std::string& out, const machine& m) {
  if (m.gpus.empty()) {
    out += "\nNo GPU\n";
    return;
  }
  columns table;
  table.row({"GPU", "CUDA", "name", "PCI bus id", "NUMA", "near CPUs", "SMs", "MHz", "GiB", ""});
  for (const auto& g : m.gpus)
    table.row({std::to_string(g.id), g.cuda_ordinal ? std::to_string(*g.cuda_ordinal) : "hidden",
               or_unknown(g.name), or_unknown(g.pci_bus_id), or_unknown(g.numa),
               or_unknown(write_cpu_list(g.near_cpus)), or_unknown(g.sm_count), or_unknown(g.sm_clock_mhz),
               g.memory_bytes ? fmt::format("{:.0f}", static_cast<double>(*g.memory_bytes) / (1 << 30)) : "?",
               g.mig ? "MIG" : ""});
  out += "\nGPUs\n" + table.text();
}

std::string path_word(pcie_path path) {
  connection c;
  c.path = path;
  return matrix_word(c);
}

// Which GPUs each network card is near, by the path that joins them.
void write_nics(std::string& out, const machine& m) {
  if (m.nics.empty()) return;
  columns table;
  table.row({"NIC", "name", "interface", "PCI bus id", "NUMA", "nearest GPUs"});
  for (const auto& n : m.nics) {
    const auto near = near_gpus(n, pcie_path::node);
    const auto path =
        near.empty() ? std::string() : path_word(n.gpu_paths[static_cast<std::size_t>(near.front())]);
    table.row({std::to_string(n.id), n.name.empty() ? "-" : n.name, n.interface.empty() ? "-" : n.interface,
               or_unknown(n.pci_bus_id), or_unknown(n.numa),
               !near.empty()         ? fmt::format("{} ({})", write_cpu_list(near), path)
               : m.gpus.empty()      ? "-"
               : n.gpu_paths.empty() ? "?"
                                     : "none"});
  }
  out += "\nNetwork cards\n" + table.text();
}

// A line for each kind of NVLink-C2C.
void write_chip_links(std::string& out, const machine& m) {
  std::map<std::string, std::vector<int>> gpus;
  for (const auto& b : drawing_of(m).cpu)
    if (b.c2c) gpus[bundle_label(b)].push_back(b.from);
  for (const auto& [label, ids] : gpus)
    out += fmt::format("{} in one direction: {} {} with the CPU beside\n", label,
                       ids.size() == 1 ? "GPU" : "GPUs", write_cpu_list(ids));
}

// A sentence about the structure of the NVLinks.
std::string nvlink_sentence(const machine& m, const connection_table& connections) {
  if (m.links.empty())
    return m.gpus.size() == 1 ? "none to another GPU: there is one"
                              : "none: GPUs reach each other over PCIe, if at all";
  if (switches_hidden(m)) return "switched, switches not visible (a virtual machine or container hides them)";
  if (!m.switches.empty()) {
    bool unknown = false;
    for (int a = 0; a < connections.size(); ++a)
      for (int b = 0; b < connections.size(); ++b) unknown = unknown || connections(a, b).between_domains;
    return fmt::format(
        "switched by {}{}", counted(m.switches.size(), "NVSwitch", "es"),
        unknown ? fmt::format(", in {} domains whose links to each other are unknown", switch_domains(m))
                : std::string{});
  }
  if (std::all_of(m.links.begin(), m.links.end(),
                  [](auto& l) { return l.a.kind == end_kind::cpu || l.b.kind == end_kind::cpu; }))
    return "between GPUs and CPUs only";
  bool all = true;
  for (int a = 0; a < connections.size(); ++a)
    for (int b = 0; b < connections.size(); ++b) all = all && (a == b || connections(a, b).by_nvlink());
  return all ? "direct links between all pairs" : "direct links between some pairs";
}

std::string peer_word(const connection& c) {
  if (c.path == pcie_path::self) return "X";
  if (!c.access) return "?";
  if (!*c.access) return "-";
  return c.atomics == true ? "P+A" : "P";
}

std::string bandwidth_word(const connection& c) {
  if (c.path == pcie_path::self) return "X";
  return c.gbps > 0 ? fmt::format("{:.0f}", c.gbps) : "?";
}

template <class Word>
void write_pairs(std::string& out, std::string_view title, const connection_table& connections, Word word) {
  std::set<std::string> kinds;
  columns table;
  std::vector<std::string> head{""};
  for (int to = 0; to < connections.size(); ++to) head.push_back(fmt::format("GPU{}", to));
  table.row(head);
  for (int from = 0; from < connections.size(); ++from) {
    std::vector<std::string> cells{fmt::format("GPU{}", from)};
    for (int to = 0; to < connections.size(); ++to) {
      cells.push_back(word(connections(from, to)));
      if (from != to) kinds.insert(cells.back());
    }
    table.row(std::move(cells));
  }
  if (kinds.size() == 1) {
    out += fmt::format("\n{}: every pair {}\n", title, *kinds.begin());
  } else if (!kinds.empty()) {
    out += fmt::format("\n{}\n{}", title, table.text());
  }
}

void write_connections(std::string& out, const machine& m) {
  const connection_table connections(m);
  if (connections.size() == 0) return;
  out += fmt::format("\nNVLink: {}\n", nvlink_sentence(m, connections));
  write_chip_links(out, m);
  if (m.gpus.size() <= widest_matrix) {
    out += "\nConnections, as nvidia-smi topo -m names them\n" + write_matrix(m);
  } else {
    write_pairs(out, "Connections, as nvidia-smi topo -m names them", connections, matrix_word);
  }
  write_pairs(out, "Bandwidth, GB/s in one direction", connections, bandwidth_word);
  write_pairs(out, "Peer access (P: loads and stores, P+A: native atomics too, -: none)", connections,
              peer_word);
}

void write_ranks(std::string& out, std::span<const rank_view> views, const survey& s) {
  if (views.size() > 1) {
    columns table;
    table.row({"rank", "host", "local", "CPUs", "GPUs that CUDA shows"});
    for (const auto& v : views)
      table.row({std::to_string(v.rank), v.seen.host, std::to_string(v.local_rank),
                 write_cpu_list(v.seen.allowed_cpus), write_cpu_list(visible_gpus(v.seen))});
    out += "\nRanks\n" + table.text();
  }
  if (!s.differences.empty()) {
    out += "\nDifferences between ranks\n";
    for (const auto& d : s.differences) out += fmt::format("  {}\n", d);
  }
}

void write_groups(std::string& out, const survey& s) {
  if (s.groups.empty()) return;
  columns table;
  table.row({"members", "near", "far", "spread"});
  for (const auto& row : s.groups)
    table.row({std::to_string(row.members), write_cpu_list(row.near), write_cpu_list(row.far),
               write_cpu_list(row.spread)});
  out += fmt::format("\nGroups that --placement would choose ({})\n{}",
                     s.kind == device::gpu ? "GPUs" : "CPUs", table.text());
}

void write_pins(std::string& out, const survey& s, bool several, const machine& m) {
  if (s.pins.empty()) return;
  columns table;
  for (const auto& p : s.pins)
    table.row({fmt::format("{}{} {}", several ? fmt::format("rank {} on {}: ", p.rank, p.host) : "",
                           s.kind == device::gpu ? "GPU" : "member", p.member),
               p.cpu ? fmt::format("CPU {}", *p.cpu) : "-", p.why});
  out += fmt::format("\nPinning of {}{}\n{}", counted(s.pins.size(), "member"),
                     m.is_this_machine ? "" : " (a plan: this is not the machine that runs mgsync)",
                     table.text());
  for (const auto& note : s.notes) out += fmt::format("  {}\n", note);
}

// A general hint for users of several GPUs, rather than a finding about this machine.
void write_advice(std::string& out, const machine& m) {
  if (m.gpus.size() < 2) return;
  out += "\nBeside a barrier between GPUs no kernel should poll a flag in host memory: every system fence of "
         "its GPU waits\n"
         "for the reads that are on their way, 100 us and more where many blocks poll (docs/load.md).\n";
}

void write_findings(std::string& out, const survey& s) {
  out += s.findings.empty() ? "\nFindings: none\n" : "\nFindings\n";
  for (const auto& f : s.findings) out += fmt::format("  {}: {}\n    change: {}\n", f.name, f.what, f.change);
}

}  // namespace

std::string write_matrix(const machine& m) {
  const connection_table connections(m);
  columns table;
  std::vector<std::string> head{""};
  for (const auto& g : m.gpus) head.push_back(fmt::format("GPU{}", g.id));
  head.insert(head.end(), {"CPU affinity", "NUMA"});
  table.row(head);
  for (const auto& g : m.gpus) {
    std::vector<std::string> cells{fmt::format("GPU{}", g.id)};
    for (const auto& other : m.gpus) cells.push_back(matrix_word(connections(g.id, other.id)));
    cells.push_back(or_unknown(write_cpu_list(g.near_cpus)));
    cells.push_back(or_unknown(g.numa));
    table.row(std::move(cells));
  }
  return table.text();
}

std::string write_text(std::span<const rank_view> views, const report_request& request) {
  std::string out;
  const auto s = survey_of(views, request);
  for (const auto& host : views_by_host(views)) {
    const auto most = *std::max_element(
        host.begin(), host.end(), [](auto a, auto b) { return a->seen.gpus.size() < b->seen.gpus.size(); });
    if (!out.empty()) out += '\n';
    write_cpus(out, most->seen);
    write_gpus(out, most->seen);
    write_nics(out, most->seen);
    write_connections(out, most->seen);
    for (std::size_t i = 0; i < most->seen.notes.size(); ++i)
      out += fmt::format("{}  {}\n", i == 0 ? "\nNotes\n" : "", most->seen.notes[i]);
  }
  write_ranks(out, views, s);
  write_groups(out, s);
  if (!views.empty()) write_pins(out, s, views.size() > 1, views.front().seen);
  write_findings(out, s);
  if (!views.empty()) write_advice(out, views.front().seen);
  return out;
}

}  // namespace mgsync::topology
