#include <nlohmann/json.hpp>

#include "topology/connection.hpp"
#include "topology/description.hpp"
#include "topology/reports/reports.hpp"
#include "topology/reports/survey.hpp"

namespace mgsync::topology {
namespace {

using json = nlohmann::ordered_json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json pairs(const machine& m) {
  json result = json::array();
  const connection_table connections(m);
  for (int from = 0; from < connections.size(); ++from)
    for (int to = 0; to < connections.size(); ++to) {
      if (from == to) continue;
      const auto& c = connections(from, to);
      result.push_back({{"from", from},
                        {"to", to},
                        {"connection", matrix_word(c)},
                        {"nvlinks", c.nvlinks},
                        {"gbps", c.gbps > 0 ? json(c.gbps) : json(nullptr)},
                        {"access", or_null(c.access)},
                        {"atomics", or_null(c.atomics)},
                        {"performance_rank", or_null(c.performance_rank)}});
    }
  return result;
}

json survey_json(const survey& s) {
  json groups = json::array();
  for (const auto& g : s.groups)
    groups.push_back({{"members", g.members}, {"near", g.near}, {"far", g.far}, {"spread", g.spread}});
  json pins = json::array();
  for (const auto& p : s.pins)
    pins.push_back(
        {{"rank", p.rank}, {"host", p.host}, {"member", p.member}, {"cpu", or_null(p.cpu)}, {"why", p.why}});
  json findings = json::array();
  for (const auto& f : s.findings)
    findings.push_back({{"name", f.name}, {"what", f.what}, {"change", f.change}});
  return {{"members", s.kind == device::gpu ? "gpu" : "host"},
          {"groups", groups},
          {"pinning", pins},
          {"pinning_notes", s.notes},
          {"findings", findings},
          {"differences", s.differences}};
}

}  // namespace

std::string write_json(std::span<const rank_view> views, const report_request& request) {
  json ranks = json::array();
  for (const auto& v : views)
    ranks.push_back({{"rank", v.rank},
                     {"local_rank", v.local_rank},
                     {"machine", machine_json(v.seen)},
                     {"pairs", pairs(v.seen)}});
  json result = {{"format", "mgsync-topology"}, {"version", 2}, {"ranks", ranks}};
  result.update(survey_json(survey_of(views, request)));
  return json_lines(result);
}

}  // namespace mgsync::topology
