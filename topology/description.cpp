#include "topology/description.hpp"

#include <map>
#include <tuple>

#include <fmt/format.h>

#include "topology/cpu_list.hpp"
#include "topology/description_words.hpp"

namespace mgsync::topology {
namespace {

template <class T>
std::string optional_value(std::string_view key, const std::optional<T>& value) {
  return value ? fmt::format(" {}={}", key, *value) : std::string{};
}

std::string optional_flag(std::string_view key, const std::optional<bool>& value) {
  return value ? fmt::format(" {}={}", key, *value ? "yes" : "no") : std::string{};
}

std::string optional_text(std::string_view key, std::string_view value) {
  return value.empty() ? std::string{} : fmt::format(" {}={}", key, quote(value));
}

std::string end_word(const link_end& end) {
  constexpr std::string_view names[] = {"gpu", "switch", "cpu"};
  return fmt::format("{}:{}", names[static_cast<int>(end.kind)], end.id);
}

bool same_line(const core& a, const core& b) {
  return a.package == b.package && a.numa == b.numa && a.cache == b.cache && a.cpus.size() == b.cpus.size();
}

// Neighbouring cores that differ only in their CPUs share a line: all first hardware threads, then all second ones.
void write_cores(std::string& out, const std::vector<core>& cores) {
  for (std::size_t first = 0; first < cores.size();) {
    std::size_t end = first + 1;
    while (end < cores.size() && same_line(cores[first], cores[end]) && cores[end].id == cores[end - 1].id + 1) ++end;
    std::vector<int> cpus;
    for (std::size_t thread = 0; thread < cores[first].cpus.size(); ++thread)
      for (std::size_t i = first; i < end; ++i) cpus.push_back(cores[i].cpus[thread]);
    const auto& c = cores[first];
    const std::string ids = end - first > 1 ? fmt::format("{}-{}", c.id, cores[end - 1].id) : std::to_string(c.id);
    out += fmt::format("core {} package={} numa={} cache={}{}\n", ids, c.package, c.numa, c.cache,
                       optional_text("cpus", write_cpu_list(cpus)));
    first = end;
  }
}

void write_gpu(std::string& out, const gpu& g) {
  out += fmt::format("gpu {}", g.id);
  out += optional_text("name", g.name) + optional_text("uuid", g.uuid) + optional_text("bus", g.pci_bus_id);
  out += optional_value("ordinal", g.cuda_ordinal) + optional_value("numa", g.numa);
  out += optional_text("near", write_cpu_list(g.near_cpus));
  out += optional_value("major", g.compute_major) + optional_value("minor", g.compute_minor);
  out += optional_value("sms", g.sm_count) + optional_value("clock_mhz", g.sm_clock_mhz);
  out += optional_value("memory", g.memory_bytes) + optional_value("pcie_gbps", g.pcie_gbps);
  out += g.mig ? " mig=yes\n" : "\n";
}

std::string peer_facts(const peer& p) {
  constexpr std::string_view paths[] = {"self", "pix", "pxb", "phb", "node", "sys", "unknown"};
  return optional_flag("access", p.access) + optional_flag("atomics", p.atomics) +
         optional_value("rank", p.performance_rank) + fmt::format(" path={}", paths[static_cast<int>(p.path)]);
}

// All ordered pairs, in order: then one line says what most pairs are, and the others follow.
bool complete(const machine& m) {
  const std::size_t n = m.gpus.size();
  if (n < 2 || m.peers.size() != n * (n - 1)) return false;
  std::size_t next = 0;
  for (int from = 0; from < static_cast<int>(n); ++from)
    for (int to = 0; to < static_cast<int>(n); ++to)
      if (from != to) {
        if (m.peers[next].from != from || m.peers[next].to != to) return false;
        ++next;
      }
  return true;
}

void write_peers(std::string& out, const machine& m) {
  std::string usual;
  if (complete(m)) {
    std::map<std::string, int> counts;
    for (const auto& p : m.peers) ++counts[peer_facts(p)];
    int most = 0;
    for (const auto& [facts, count] : counts)
      if (count > most) std::tie(most, usual) = std::tuple(count, facts);
    out += fmt::format("peer * *{}\n", usual);
  }
  for (const auto& p : m.peers)
    if (const auto facts = peer_facts(p); usual.empty() || facts != usual)
      out += fmt::format("peer {} {}{}\n", p.from, p.to, facts);
}

}  // namespace

std::string write_description(const machine& m) {
  std::string out = fmt::format("{}\nhost {}\nsource {}\nthis-machine {}\n", description_magic, quote(m.host),
                                quote(m.source), m.is_this_machine ? "yes" : "no");
  for (const auto& p : m.packages) out += fmt::format("package {}{}\n", p.id, optional_text("model", p.model));
  for (const auto& n : m.numa_nodes) out += fmt::format("numa {} package={}\n", n.id, n.package);
  write_cores(out, m.cores);
  if (!m.allowed_cpus.empty()) out += fmt::format("allowed {}\n", write_cpu_list(m.allowed_cpus));
  if (m.quota) out += fmt::format("quota cpus={}{}\n", m.quota->cpus, optional_text("cgroup", m.quota->cgroup));
  for (const auto& g : m.gpus) write_gpu(out, g);
  for (const auto& bus : m.unseen_gpus) out += fmt::format("unseen-gpu {}\n", quote(bus));
  if (!m.cuda_problem.empty()) out += fmt::format("cuda-problem {}\n", quote(m.cuda_problem));
  for (const auto& s : m.switches) out += fmt::format("switch {}{}\n", s.id, optional_text("bus", s.pci_bus_id));
  for (const auto& l : m.links)
    out += fmt::format("link {} {} width={} version={} gbps={}\n", end_word(l.a), end_word(l.b), l.width, l.version,
                       l.gbps_each);
  write_peers(out, m);
  for (const auto& note : m.notes) out += fmt::format("note {}\n", quote(note));
  return out;
}

}  // namespace mgsync::topology
