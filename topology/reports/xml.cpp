#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/base/markup.hpp"
#include "topology/description.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology {
namespace {

// hwloc's bitmaps: 32 bits a word, the highest first. Of words without a bit only the comma is written, as
// hwloc does: with the zeros, 8,192 cores took 142 MB.
std::string bitmap(const std::set<int>& bits) {
  if (bits.empty()) return "0x0";
  std::vector<unsigned> words(static_cast<std::size_t>(*bits.rbegin()) / 32 + 1, 0);
  for (const int bit : bits) words[static_cast<std::size_t>(bit) / 32] |= 1U << (bit % 32);
  std::string text;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (word != words.rbegin()) text += ',';
    if (*word != 0) text += fmt::format("0x{:08x}", *word);
    else if (word + 1 == words.rend()) text += "0x0";
  }
  return text;
}

// hwloc writes no other text.
std::string plain_ascii(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text;
}

class writer {
 public:
  explicit writer(const machine& m) : machine_(m) {
    for (const auto& c : m.cores)
      for (const int cpu : c.cpus) nodes_of_cpu_[cpu].insert(c.numa);
  }

  std::string write() {
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
           "<topology version=\"2.0\">\n";
    const auto all = cpus_of([](const core&) { return true; });
    std::set<int> allowed;
    for (const int cpu : machine_.allowed_cpus)
      if (all.contains(cpu)) allowed.insert(cpu);
    const auto nodes = nodes_of(all);
    open("Machine",
         {{"os_index", 0},
          {"allowed_cpuset", bitmap(allowed.empty() ? all : allowed)},
          {"allowed_nodeset", bitmap(nodes)}},
         all);
    info("Backend", "mgsync");
    info("HostName", machine_.host);
    write_own();
    for (const auto& p : machine_.packages) write_package(p);
    for (const auto& g : machine_.gpus)
      if (!package_of_gpu(g)) write_gpu(g);
    close();
    return out_ + "</topology>\n";
  }

 private:
  template <class Wanted>
  std::set<int> cpus_of(Wanted wanted) const {
    std::set<int> cpus;
    for (const auto& c : machine_.cores)
      if (wanted(c)) cpus.insert(c.cpus.begin(), c.cpus.end());
    return cpus;
  }

  std::set<int> nodes_of(const std::set<int>& cpus) const {
    std::set<int> nodes;
    for (const int cpu : cpus) nodes.insert(nodes_of_cpu_.at(cpu).begin(), nodes_of_cpu_.at(cpu).end());
    return nodes;
  }

  std::optional<int> package_of_gpu(const gpu& g) const {
    for (const auto& n : machine_.numa_nodes)
      if (g.numa == n.id && !cpus_of([&](const core& c) { return c.package == n.package; }).empty())
        return n.package;
    return std::nullopt;
  }

  void open(std::string_view type, attributes some, const std::set<int>& cpus) {
    const auto cpuset = bitmap(cpus), nodeset = bitmap(nodes_of(cpus));
    some.insert(some.end(), {{"cpuset", cpuset},
                             {"complete_cpuset", cpuset},
                             {"nodeset", nodeset},
                             {"complete_nodeset", nodeset}});
    open_io(type, std::move(some));
  }
  void open_io(std::string_view type, attributes some) {
    some.insert(some.begin(), {"type", type});
    some.emplace_back("gp_index", ++objects_);
    out_ += opening("object", some) + "\n";
  }
  void close() { out_ += "</object>\n"; }
  void info(std::string_view name, const std::string& value) {
    if (!value.empty()) out_ += element("info", {{"name", name}, {"value", plain_ascii(value)}}) + "\n";
  }

  // All that hwloc has no place for.
  void write_own() {
    auto own = machine_json(machine_);
    for (const char* key : {"numa_nodes", "cores", "allowed_cpus"}) own.erase(key);
    if (std::none_of(machine_.packages.begin(), machine_.packages.end(), [](auto& p) { return p.tray; }))
      own.erase("packages");
    info("mgsync", own.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }

  void write_package(const package& p) {
    const auto cpus = cpus_of([&](const core& c) { return c.package == p.id; });
    if (cpus.empty()) return;
    open("Package", {{"os_index", p.id}}, cpus);
    info("CPUModel", p.model);
    std::map<int, std::set<int>> nodes;
    for (const auto& c : machine_.cores)
      if (c.package == p.id) nodes[c.numa].insert(c.cpus.begin(), c.cpus.end());
    for (const auto& [node, node_cpus] : nodes) {
      if (nodes.size() > 1) open("Group", {{"kind", 0}, {"subkind", 0}}, node_cpus);
      open("NUMANode", {{"os_index", node}}, node_cpus);
      close();
      write_caches(p.id, node);
      if (nodes.size() > 1) close();
    }
    for (const auto& g : machine_.gpus)
      if (package_of_gpu(g) == p.id) write_gpu(g);
    close();
  }

  void write_caches(int package, int node) {
    std::map<int, std::vector<const core*>> caches;
    for (const auto& c : machine_.cores)
      if (c.package == package && c.numa == node) caches[c.cache].push_back(&c);
    for (const auto& [cache, cores] : caches) {
      std::set<int> cpus;
      for (const auto* c : cores) cpus.insert(c->cpus.begin(), c->cpus.end());
      open("L3Cache",
           {{"cache_size", 0},
            {"depth", 3},
            {"cache_linesize", 64},
            {"cache_associativity", 0},
            {"cache_type", 0}},
           cpus);
      for (const auto* c : cores) write_core(*c);
      close();
    }
  }

  void write_core(const core& c) {
    open("Core", {{"os_index", c.id}}, {c.cpus.begin(), c.cpus.end()});
    for (const int cpu : c.cpus) {
      open("PU", {{"os_index", cpu}}, {cpu});
      close();
    }
    close();
  }

  // A host bridge of its own: the switches on the way are not known here, and the paths are among the peers.
  void write_gpu(const gpu& g) {
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (std::sscanf(g.pci_bus_id.c_str(), "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 ||
        domain > 0xffff || bus > 0xff || slot > 0x1f || function > 7)
      return;
    open_io("Bridge", {{"bridge_type", "0-1"},
                       {"depth", 0},
                       {"bridge_pci", fmt::format("{:04x}:[{:02x}-{:02x}]", domain, bus, bus)}});
    open_io("PCIDev", {{"pci_busid", fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, slot, function)},
                       {"pci_type", "0302 [10de:0000] [0000:0000] 00"},
                       {"pci_link_speed", fmt::format("{:.6f}", g.pcie_gbps.value_or(0))}});
    info("PCIVendor", "NVIDIA Corporation");
    info("PCIDevice", g.name);
    open_io("OSDev", {{"name", fmt::format("nvml{}", g.id)}, {"subtype", "NVML"}, {"osdev_type", 1}});
    info("Backend", "NVML");
    info("GPUModel", g.name);
    info("NVIDIAUUID", g.uuid);
    close();
    close();
    close();
  }

  const machine& machine_;
  std::map<int, std::set<int>> nodes_of_cpu_;  // one, or several where cores share it
  std::string out_;
  int objects_ = 0;
};

}  // namespace

std::string write_xml(const machine& m) { return writer(m).write(); }

}  // namespace mgsync::topology
