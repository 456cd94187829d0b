#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "topology/sources/gpu_answers.hpp"
#include "topology/sources/gpu_discovery.hpp"
#include "topology/sources/visible_devices.hpp"

namespace mgsync::topology {
namespace {

// Removes the prefix "GPU-" or "MIG-" of NVML, as the CUDA driver reports only the bytes.
std::string_view bare(std::string_view uuid) {
  return uuid.starts_with("GPU-") || uuid.starts_with("MIG-") ? uuid.substr(4) : uuid;
}

// The specified bandwidth of a link of this generation, one direction, GB/s.
double nominal_gbps(int version) {
  constexpr std::array<double, 6> speeds = {0, 20, 25, 25, 25, 50};
  return version > 0 && version < static_cast<int>(speeds.size()) ? speeds[static_cast<std::size_t>(version)]
                                                                  : 0;
}

// One GPU of the machine under construction and where it was seen.
struct found {
  topology::gpu gpu;
  int nvml = -1;  // place in the answer of NVML
  int cuda = -1;  // ordinal
};

void take_cuda_facts(gpu& g, const gpu& from) {
  g.cuda_ordinal = from.cuda_ordinal;
  g.sm_count = from.sm_count;
  if (from.compute_major) g.compute_major = from.compute_major;
  if (from.compute_minor) g.compute_minor = from.compute_minor;
  if (!g.sm_clock_mhz) g.sm_clock_mhz = from.sm_clock_mhz;
  if (g.name.empty()) g.name = from.name;
  if (g.pci_bus_id.empty()) g.pci_bus_id = from.pci_bus_id;
}

// The slices of a GPU in MIG mode stand in its place as far as CUDA shows them.
void add_cuda_gpu(std::vector<found>& all, const nvml_answer& nvml, const gpu& seen) {
  for (auto& f : all)
    if (f.cuda < 0 && !seen.uuid.empty() && bare(f.gpu.uuid) == seen.uuid) {
      take_cuda_facts(f.gpu, seen);
      f.cuda = seen.id;
      return;
    }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const found whole = all[i];
    if (seen.pci_bus_id.empty() || whole.gpu.pci_bus_id != seen.pci_bus_id) continue;
    found slice = whole;
    take_cuda_facts(slice.gpu, seen);
    slice.cuda = seen.id;
    if (!whole.gpu.mig) {  // one GPU, whose UUID one of the two did not tell
      if (whole.cuda >= 0) continue;
      all[i] = slice;
      return;
    }
    const auto& slices = nvml.gpus[static_cast<std::size_t>(whole.nvml)].mig_uuids;
    const auto named =
        std::find_if(slices.begin(), slices.end(), [&](auto& u) { return bare(u) == seen.uuid; });
    slice.gpu.uuid = named != slices.end() ? *named : "MIG-" + seen.uuid;
    slice.gpu.memory_bytes = seen.memory_bytes;
    slice.gpu.name = seen.name;
    if (whole.cuda < 0) {
      all[i] = slice;
    } else {
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, slice);
    }
    return;
  }
  found only_cuda;
  only_cuda.gpu = seen;
  if (!seen.uuid.empty()) only_cuda.gpu.uuid = "GPU-" + seen.uuid;
  only_cuda.cuda = seen.id;
  all.push_back(only_cuda);
}

// Where NVML did not say which CPUs are near: the ones of its NUMA node, and a machine of one node has no
// other.
void complete_locality(const machine& m, gpu& g) {
  if (!g.numa && m.numa_nodes.size() == 1) g.numa = m.numa_nodes.front().id;
  if (!g.numa && !g.near_cpus.empty())
    for (const auto& c : m.cores)
      if (!c.cpus.empty() && c.cpus.front() == g.near_cpus.front()) g.numa = c.numa;
  // A GPU's own memory can be a NUMA node (Grace Hopper): it holds no cores and is no place for a thread.
  const bool has_cores =
      std::any_of(m.cores.begin(), m.cores.end(), [&](auto& c) { return g.numa == c.numa; });
  if (!has_cores && !g.near_cpus.empty())
    for (const auto& c : m.cores)
      if (std::find(c.cpus.begin(), c.cpus.end(), g.near_cpus.front()) != c.cpus.end()) g.numa = c.numa;
  if (!g.near_cpus.empty() || !g.numa) return;
  for (const auto& c : m.cores)
    if (c.numa == *g.numa) g.near_cpus.insert(g.near_cpus.end(), c.cpus.begin(), c.cpus.end());
  std::sort(g.near_cpus.begin(), g.near_cpus.end());
}

int switch_of(machine& m, const std::string& bus_id) {
  for (const auto& s : m.switches)
    if (s.pci_bus_id == bus_id) return s.id;
  m.switches.push_back({static_cast<int>(m.switches.size()), bus_id});
  return m.switches.back().id;
}

// Counts the links of one GPU by where they end. Only the lower of two GPUs counts the links between them.
class link_counter {
 public:
  link_counter(machine& m, const std::vector<found>& all) : machine_(m), all_(all) {}

  void count(int id, const nvml_gpu& source) {
    for (const auto& l : source.links) {
      if (const auto end = other_end(l, id)) {
        if (end->kind == end_kind::gpu && end->id < id) continue;
        ++widths_[{id, end->kind, end->id, l.version, l.gbps, l.c2c && end->kind == end_kind::cpu}];
      }
    }
  }

  void finish() {
    for (const auto& [key, width] : widths_) {
      const auto& [from, kind, to, version, gbps, c2c] = key;
      machine_.links.push_back(
          {{end_kind::gpu, from}, {kind, to}, width, version, gbps > 0 ? gbps : nominal_gbps(version), c2c});
    }
    if (lost_ > 0)
      machine_.notes.push_back(
          fmt::format("{} NVLinks end in GPUs that are not visible here (a container, or a "
                      "part of the machine).",
                      lost_));
  }

 private:
  std::optional<link_end> other_end(const nvml_link& l, int id) {
    if (!l.remote_bus_id.empty())
      for (const auto& f : all_)
        if (f.gpu.pci_bus_id == l.remote_bus_id && f.gpu.id != id) return link_end{end_kind::gpu, f.gpu.id};
    if (l.remote == remote_kind::cpu) {
      const auto& near = all_[static_cast<std::size_t>(id)].gpu.numa;
      for (const auto& n : machine_.numa_nodes)
        if (near == n.id) return link_end{end_kind::cpu, n.package};
      return std::nullopt;
    }
    if (l.remote == remote_kind::gpu) {
      ++lost_;
      return std::nullopt;
    }
    // No identity, or one that is no PCI device: a switch that a virtual machine does not show.
    const bool visible = l.remote == remote_kind::nvswitch && !l.remote_bus_id.empty();
    return link_end{end_kind::nvswitch, switch_of(machine_, visible ? l.remote_bus_id : std::string{})};
  }

  machine& machine_;
  const std::vector<found>& all_;
  std::map<std::tuple<int, end_kind, int, int, double, bool>, int> widths_;  // from, to, version, speed, C2C
  int lost_ = 0;
};

void add_peers(machine& m, const std::vector<found>& all, const nvml_answer& nvml, const cuda_answer& cuda) {
  std::map<std::pair<int, int>, const nvml_pair*> by_nvml;
  for (const auto& p : nvml.pairs) by_nvml[{p.from, p.to}] = &p;
  std::map<std::pair<int, int>, const peer*> by_cuda;
  for (const auto& p : cuda.peers) by_cuda[{p.from, p.to}] = &p;
  for (const auto& from : all)
    for (const auto& to : all) {
      if (from.gpu.id == to.gpu.id) continue;
      peer p;
      if (const auto c = by_cuda.find({from.cuda, to.cuda}); c != by_cuda.end()) p = *c->second;
      p.from = from.gpu.id;
      p.to = to.gpu.id;
      if (const auto n = by_nvml.find({from.nvml, to.nvml}); n != by_nvml.end()) {
        p.path = n->second->path;
        if (!cuda.answered) {
          p.access = n->second->access;
          p.atomics = n->second->atomics;
        }
      }
      if (from.nvml >= 0 && from.nvml == to.nvml) p.path = pcie_path::pix;  // two slices of one GPU
      m.peers.push_back(p);
    }
}

}  // namespace

std::string plain_bus_id(std::string_view text) {
  std::string id;
  for (const char c : text) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto colon = id.find(':');
  if (colon == std::string::npos) return id;
  while (id.size() > 4 && id.find(':') > 4 && id.front() == '0') id.erase(0, 1);
  return id;
}

void join_gpus(machine& m, const nvml_answer& nvml, const cuda_answer& cuda) {
  std::vector<found> all;
  for (std::size_t i = 0; i < nvml.gpus.size(); ++i)
    all.push_back({nvml.gpus[i].gpu, static_cast<int>(i), -1});
  for (const auto& g : cuda.gpus) add_cuda_gpu(all, nvml, g);
  std::stable_sort(all.begin(), all.end(), [](const found& a, const found& b) {
    return std::tie(a.gpu.pci_bus_id, a.cuda) < std::tie(b.gpu.pci_bus_id, b.cuda);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].gpu.id = static_cast<int>(i);
    complete_locality(m, all[i].gpu);
    m.gpus.push_back(all[i].gpu);
  }
  link_counter links(m, all);
  for (const auto& f : all)
    if (f.nvml >= 0 && !f.gpu.mig) links.count(f.gpu.id, nvml.gpus[static_cast<std::size_t>(f.nvml)]);
  links.finish();
  add_peers(m, all, nvml, cuda);
  // Only one note where there is no GPU: a missing driver implies that CUDA is missing, too.
  m.notes.insert(m.notes.end(), nvml.notes.begin(), nvml.notes.end());
  if (nvml.answered || cuda.answered || nvml.notes.empty())
    m.notes.insert(m.notes.end(), cuda.notes.begin(), cuda.notes.end());
}

std::vector<std::string> pci_gpus(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  std::error_code unreadable;
  for (const auto& device : std::filesystem::directory_iterator(folder, unreadable)) {
    std::string vendor, kind;
    std::ifstream(device.path() / "vendor") >> vendor;
    std::ifstream(device.path() / "class") >> kind;
    if (vendor == "0x10de" && kind.starts_with("0x03"))
      found.push_back(plain_bus_id(device.path().filename().string()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

void add_problems(machine& m, const nvml_answer& nvml, const cuda_answer& cuda,
                  std::span<const std::string> pci, const std::optional<std::string>& visible) {
  for (const auto& bus : pci)
    if (std::none_of(m.gpus.begin(), m.gpus.end(), [&](auto& g) { return g.pci_bus_id == bus; }))
      m.unseen_gpus.push_back(bus);
  // Where the bus does not tell more.
  if (m.unseen_gpus.empty())
    for (const auto number : nvml.closed) m.unseen_gpus.push_back(fmt::format("number {} of NVML", number));
  if (visible && nvml.answered) m.cuda_problem = visible_devices_problem(*visible, nvml);
  if (m.cuda_problem.empty() && !cuda.answered && !m.gpus.empty() && !cuda.notes.empty())
    m.cuda_problem = cuda.notes.front();
}

void add_gpus(machine& m) {
  const auto nvml = ask_nvml();
  const auto cuda = ask_cuda();
  join_gpus(m, nvml, cuda);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  add_problems(m, nvml, cuda, pci_gpus(),
               visible == nullptr ? std::nullopt : std::optional<std::string>(visible));
}

}  // namespace mgsync::topology
