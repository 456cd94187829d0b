// The fields of a machine's JSON, named once for writing and for reading.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/base/enum_words.hpp"
#include "src/base/fields.hpp"
#include "topology/cpu_list.hpp"
#include "topology/description.hpp"

namespace mgsync {

template <>
struct enum_words<topology::end_kind> {
  using enum topology::end_kind;
  static constexpr std::pair<topology::end_kind, std::string_view> list[] = {
      {gpu, "gpu"}, {nvswitch, "switch"}, {cpu, "cpu"}};
};
template <>
struct enum_words<topology::pcie_path> {
  using enum topology::pcie_path;
  static constexpr std::pair<topology::pcie_path, std::string_view> list[] = {
      {self, "self"}, {pix, "pix"}, {pxb, "pxb"},        {phb, "phb"},
      {node, "node"}, {sys, "sys"}, {unknown, "unknown"}};
};

}  // namespace mgsync

namespace mgsync::topology {

inline constexpr std::string_view format_name = "mgsync-machine";
inline constexpr int format_version = 2;
inline constexpr int max_links = 65536;  // and as many pairs of GPUs
inline constexpr int max_count = 1 << 20;

// Neighbouring cores that differ in nothing but their CPUs share an entry: all first hardware threads, then
// all second ones.
struct core_entry {
  std::vector<int> ids;
  int package = 0, numa = 0, cache = 0;
  std::vector<int> cpus;
};

// The values of every ordered pair of GPUs without an entry of its own; from and to are unused.
struct usual_peer {
  peer facts;
};

// A machine as it is written. Its `cores` and `peers` are left out: the more compact lists beside it replace
// them.
struct description {
  std::string format{format_name};
  int version = format_version;
  machine of;
  std::vector<core_entry> cores;
  std::optional<usual_peer> usual;
  std::vector<peer> peers;
};

// A number is one of 0..65535 or up to what is said, a list as long.
void fields(auto& way, package& p) {
  way.needs("id", p.id);
  way("model", p.model);
  way("tray", p.tray);
}

void fields(auto& way, numa_node& n) {
  way.needs("id", n.id);
  way("package", n.package);
}

void fields(auto& way, core_entry& c) {
  way.needs("ids", as_cpu_list(c.ids));
  way("package", c.package);
  way("numa", c.numa);
  way("cache", c.cache);
  way("cpus", as_cpu_list(c.cpus));
}

void fields(auto& way, cpu_quota& q) {
  way.needs("cpus", q.cpus);
  way("cgroup", q.cgroup);
}

void fields(auto& way, gpu& g) {
  way.needs("id", g.id);
  way("cuda_ordinal", g.cuda_ordinal, max_gpus - 1);
  way("name", g.name);
  way("uuid", g.uuid);
  way("pci_bus_id", g.pci_bus_id);
  way("numa", g.numa);
  way("near_cpus", as_cpu_list(g.near_cpus));
  way("compute_major", g.compute_major);
  way("compute_minor", g.compute_minor);
  way("sm_count", g.sm_count, max_count);
  way("sm_clock_mhz", g.sm_clock_mhz, max_count);
  way("memory_bytes", g.memory_bytes);
  way("pcie_gbps", g.pcie_gbps);
  way("mig", g.mig);
}

void fields(auto& way, nvswitch& s) {
  way.needs("id", s.id);
  way("pci_bus_id", s.pci_bus_id);
}

// "gpu:0".
inline auto as_end(link_end& end) {
  return told_as{end, [](const link_end& e) { return fmt::format("{}:{}", mgsync::to_string(e.kind), e.id); },
                 [](const auto& text, auto& place) {
                   const auto colon = text ? text->find(':') : std::string::npos;
                   const bool both = colon != std::string::npos;
                   const auto kind = both ? from_word<end_kind>(text->substr(0, colon)) : std::nullopt;
                   const auto id = both ? parse_number(text->substr(colon + 1)) : std::nullopt;
                   if (!kind || !id) place.expected("\"gpu:ID\", \"switch:ID\" or \"cpu:PACKAGE\"");
                   return link_end{*kind, *id};
                 }};
}

// Written only where it is so.
void if_true(auto& way, std::string_view key, bool& value) {
  way(key, told_as{value, [](bool is) { return is ? std::optional(true) : std::nullopt; },
                   [](const std::optional<bool>& told, auto&) { return told.value_or(false); }});
}

void fields(auto& way, link& l) {
  way.needs("a", as_end(l.a));
  way.needs("b", as_end(l.b));
  way("width", l.width, 1024);
  way("version", l.version, 1000);
  way("gbps_each", l.gbps_each);
  if_true(way, "c2c", l.c2c);
}

// {"pix": "0", "node": "1-3"}: GPUs by how near they are.
inline auto as_paths(std::vector<pcie_path>& paths) {
  return told_as{
      paths,
      [](const std::vector<pcie_path>& by_gpu) {
        std::map<std::string, std::vector<int>> gpus;
        for (std::size_t i = 0; i < by_gpu.size(); ++i)
          if (by_gpu[i] != pcie_path::unknown)
            gpus[std::string(mgsync::to_string(by_gpu[i]))].push_back(static_cast<int>(i));
        std::map<std::string, std::string> told;
        for (const auto& [word, list] : gpus) told[word] = write_cpu_list(list);
        return told;
      },
      [](const std::map<std::string, std::string>& told, auto& place) {
        std::vector<pcie_path> by_gpu;
        for (const auto& [word, list] : told) {
          const auto path = from_word<pcie_path>(word);
          const auto gpus = parse_cpu_list(list);
          if (!path || *path == pcie_path::self || !gpus || (!gpus->empty() && gpus->back() >= max_gpus))
            place.expected("words of pix, pxb, phb, node and sys, each with a list of GPUs such as \"0-3\"");
          for (const int gpu : *gpus) {
            const auto at = static_cast<std::size_t>(gpu);
            if (by_gpu.size() <= at) by_gpu.resize(at + 1, pcie_path::unknown);
            by_gpu[at] = *path;
          }
        }
        return by_gpu;
      }};
}

void fields(auto& way, nic& n) {
  way.needs("id", n.id);
  way("name", n.name);
  way("interface", n.interface);
  way("pci_bus_id", n.pci_bus_id);
  way("numa", n.numa);
  way("gpus", as_paths(n.gpu_paths));
}

void facts(auto& way, peer& p) {
  way("access", p.access);
  way("atomics", p.atomics);
  way("performance_rank", p.performance_rank, max_count);
  way("path", p.path);
}

void fields(auto& way, usual_peer& p) { facts(way, p.facts); }

void fields(auto& way, peer& p) {
  way.needs("from", p.from);
  way.needs("to", p.to);
  facts(way, p);
}

void fields(auto& way, description& d) {
  way.needs("format", d.format);
  way.needs("version", d.version);
  way("host", d.of.host);
  way("source", d.of.source);
  way("is_this_machine", d.of.is_this_machine);
  way("packages", d.of.packages);
  way("numa_nodes", d.of.numa_nodes);
  way("cores", d.cores);
  way("allowed_cpus", as_cpu_list(d.of.allowed_cpus));
  way("quota", d.of.quota);
  way("gpus", d.of.gpus, max_gpus);
  way("unseen_gpus", d.of.unseen_gpus, max_gpus);
  way("cuda_problem", d.of.cuda_problem);
  way("switches", d.of.switches, max_gpus);
  way("links", d.of.links, max_links);
  way("nics", d.of.nics, max_gpus);
  way("usual_peer", d.usual);
  way("peers", d.peers, max_links);
  way("notes", d.of.notes);
}

// Every ordered pair of so many GPUs, in order: an exception, or else the usual one.
std::vector<peer> peers_of(const peer& usual, const std::vector<peer>& exceptions, int gpus);

}  // namespace mgsync::topology
