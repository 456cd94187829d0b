#include <nlohmann/json.hpp>

#include "topology/connection.hpp"
#include "topology/reports/reports.hpp"
#include "topology/reports/survey.hpp"

namespace mgsync::topology {
namespace {

using json = nlohmann::ordered_json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json number_or_null(double value) { return value > 0 ? json(value) : json(nullptr); }

json cpu_side(const machine& m) {
  json cores = json::array();
  for (const auto& c : m.cores)
    cores.push_back({{"id", c.id}, {"package", c.package}, {"numa", c.numa}, {"cache", c.cache}, {"cpus", c.cpus}});
  json packages = json::array();
  for (const auto& p : m.packages) packages.push_back({{"id", p.id}, {"model", p.model}});
  json nodes = json::array();
  for (const auto& n : m.numa_nodes) nodes.push_back({{"id", n.id}, {"package", n.package}});
  return {{"packages", packages}, {"numa_nodes", nodes}, {"cores", cores}, {"allowed_cpus", m.allowed_cpus}};
}

json gpus(const machine& m) {
  json result = json::array();
  for (const auto& g : m.gpus)
    result.push_back({{"id", g.id},
                      {"cuda_ordinal", or_null(g.cuda_ordinal)},
                      {"name", g.name},
                      {"uuid", g.uuid},
                      {"pci_bus_id", g.pci_bus_id},
                      {"numa", or_null(g.numa)},
                      {"near_cpus", g.near_cpus},
                      {"compute_major", or_null(g.compute_major)},
                      {"compute_minor", or_null(g.compute_minor)},
                      {"sm_count", or_null(g.sm_count)},
                      {"sm_clock_mhz", or_null(g.sm_clock_mhz)},
                      {"memory_bytes", or_null(g.memory_bytes)},
                      {"pcie_gbps", or_null(g.pcie_gbps)},
                      {"mig", g.mig}});
  return result;
}

json end(const link_end& e) {
  constexpr const char* kinds[] = {"gpu", "switch", "cpu"};
  return {{"kind", kinds[static_cast<int>(e.kind)]}, {"id", e.id}};
}

json links(const machine& m) {
  json result = json::array();
  for (const auto& l : m.links)
    result.push_back({{"a", end(l.a)}, {"b", end(l.b)}, {"width", l.width},
                      {"version", l.version > 0 ? json(l.version) : json(nullptr)},
                      {"gbps_each", number_or_null(l.gbps_each)}});
  return result;
}

json pairs(const machine& m) {
  json result = json::array();
  const connection_table connections(m);
  for (int from = 0; from < connections.size(); ++from)
    for (int to = 0; to < connections.size(); ++to) {
      if (from == to) continue;
      const auto& c = connections(from, to);
      result.push_back({{"from", from}, {"to", to}, {"connection", matrix_word(c)}, {"nvlinks", c.nvlinks},
                        {"gbps", number_or_null(c.gbps)}, {"access", or_null(c.access)},
                        {"atomics", or_null(c.atomics)}, {"performance_rank", or_null(c.performance_rank)}});
    }
  return result;
}

json machine_json(const machine& m) {
  json switches = json::array();
  for (const auto& s : m.switches)
    switches.push_back({{"id", s.id}, {"pci_bus_id", s.pci_bus_id}, {"visible", !s.pci_bus_id.empty()}});
  json result = {{"host", m.host}, {"source", m.source}, {"is_this_machine", m.is_this_machine}};
  result.update(cpu_side(m));
  result["cpu_quota"] = m.quota ? json(m.quota->cpus) : json(nullptr);
  result["unseen_gpus"] = m.unseen_gpus;
  result["cuda_problem"] = m.cuda_problem;
  result.update(
      {{"gpus", gpus(m)}, {"switches", switches}, {"links", links(m)}, {"pairs", pairs(m)}, {"notes", m.notes}});
  return result;
}

json survey_json(const survey& s) {
  json groups = json::array();
  for (const auto& g : s.groups)
    groups.push_back({{"members", g.members}, {"near", g.near}, {"far", g.far}, {"spread", g.spread}});
  json pins = json::array();
  for (const auto& p : s.pins)
    pins.push_back({{"rank", p.rank}, {"host", p.host}, {"member", p.member}, {"cpu", or_null(p.cpu)}, {"why", p.why}});
  json findings = json::array();
  for (const auto& f : s.findings) findings.push_back({{"name", f.name}, {"what", f.what}, {"change", f.change}});
  return {{"members", s.kind == device::gpu ? "gpu" : "host"}, {"groups", groups}, {"pinning", pins},
          {"pinning_notes", s.notes}, {"findings", findings}, {"differences", s.differences}};
}

}  // namespace

std::string write_json(std::span<const rank_view> views, const report_request& request) {
  json ranks = json::array();
  for (const auto& v : views)
    ranks.push_back({{"rank", v.rank}, {"local_rank", v.local_rank}, {"machine", machine_json(v.seen)}});
  json result = {{"format", "mgsync-topology"}, {"version", 1}, {"ranks", ranks}};
  result.update(survey_json(survey_of(views, request)));
  // A host or GPU name may hold any byte; JSON may not.
  return result.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace mgsync::topology
