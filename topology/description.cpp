#include "topology/description.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "src/base/json_fields.hpp"
#include "topology/description_fields.hpp"

namespace mgsync::topology {
namespace {

using json = nlohmann::ordered_json;

std::vector<core_entry> entries_of(const std::vector<core>& cores) {
  std::vector<core_entry> entries;
  for (std::size_t first = 0, end = 0; first < cores.size(); first = end) {
    const core& c = cores[first];
    core_entry entry{{}, c.package, c.numa, c.cache, {}};
    for (; end < cores.size(); ++end) {
      const core& next = cores[end];
      if (std::tuple(next.package, next.numa, next.cache, next.cpus.size(), next.id) !=
          std::tuple(c.package, c.numa, c.cache, c.cpus.size(), c.id + static_cast<int>(end - first)))
        break;
      entry.ids.push_back(next.id);
    }
    for (std::size_t thread = 0; thread < c.cpus.size(); ++thread)
      for (std::size_t i = first; i < end; ++i) entry.cpus.push_back(cores[i].cpus[thread]);
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool same_facts(const peer& a, const peer& b) {
  return std::tie(a.access, a.atomics, a.performance_rank, a.path) ==
         std::tie(b.access, b.atomics, b.performance_rank, b.path);
}

// The most frequent values of pairs are written once, where reading that gives all the pairs back.
void say_peers(description& d) {
  std::vector<std::pair<const peer*, int>> kinds;  // how many pairs are equal to this one
  for (const auto& p : d.of.peers) {
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return same_facts(*k.first, p); });
    if (kind != kinds.end()) ++kind->second;
    else kinds.emplace_back(&p, 1);
  }
  d.peers = std::move(d.of.peers);
  const auto most =
      std::max_element(kinds.begin(), kinds.end(), [](auto& a, auto& b) { return a.second < b.second; });
  if (most == kinds.end()) return;
  const peer usual = *most->first;
  std::vector<peer> others;
  for (const peer& p : d.peers)
    if (!same_facts(p, usual)) others.push_back(p);
  if (peers_of(usual, others, static_cast<int>(d.of.gpus.size())) != d.peers) return;
  d.usual = usual_peer{usual};
  d.peers = std::move(others);
}

// Depth is that of what we write: a few levels.
void print(std::string& out, const json& value, const std::string& indent) {
  if (!value.is_structured() || value.empty()) {
    out += dumped(value);
    return;
  }
  const bool flat = std::none_of(value.begin(), value.end(), [&](const json& one) {
    return one.is_structured() || (value.is_array() && one.is_string());
  });
  const std::string inner = flat ? "" : "\n" + indent + "  ";
  out += value.is_object() ? '{' : '[';
  for (std::string between; const auto& [key, one] : value.items()) {
    out += between + inner;
    if (value.is_object()) out += dumped(key) + ": ";
    print(out, one, indent + "  ");
    between = flat ? ", " : ",";
  }
  out += flat ? "" : "\n" + indent;
  out += value.is_object() ? '}' : ']';
}

}  // namespace

std::vector<peer> peers_of(const peer& usual, const std::vector<peer>& exceptions, int gpus) {
  std::map<std::pair<int, int>, peer> all;
  for (const auto& p : exceptions) all.emplace(std::pair(p.from, p.to), p);
  std::vector<peer> peers;
  for (int from = 0; from < gpus; ++from)
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      const auto found = all.find({from, to});
      peers.push_back(found != all.end() ? found->second : usual);
      peers.back().from = from;
      peers.back().to = to;
    }
  return peers;
}

json machine_json(const machine& m) {
  description d;
  d.of = m;
  d.cores = entries_of(m.cores);
  say_peers(d);
  return to_json(d, whole_doubles::with_a_point);
}

std::string json_lines(const json& value) {
  std::string text;
  print(text, value, "");
  return text + '\n';
}

std::string write_description(const machine& m) { return json_lines(machine_json(m)); }

}  // namespace mgsync::topology
