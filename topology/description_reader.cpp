#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "topology/description_fields.hpp"

namespace mgsync::topology {
namespace {

// `path` is the thing's own, "gpus[3].numa"; of the whole description it is empty.
template <class... Parts>
[[noreturn]] void fail(const std::string& path, fmt::format_string<Parts...> what, Parts&&... parts) {
  throw usage_error((path.empty() ? path : path + ": ") + fmt::format(what, std::forward<Parts>(parts)...));
}

[[noreturn]] void expected(const std::string& path, std::string_view what) {
  fail(path, "expected {}", what);
}

std::vector<core> cores_of(const std::vector<core_entry>& entries) {
  std::vector<core> cores;
  std::set<int> seen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [ids, package, numa, cache, cpus] = entries[i];
    const auto path = fmt::format("cores[{}].", i);
    if (ids.empty() || ids.front() != static_cast<int>(cores.size()) ||
        ids.back() - ids.front() + 1 != static_cast<int>(ids.size()))
      expected(path + "ids",
               fmt::format("a number or FIRST-LAST that begins with {}, the next core", cores.size()));
    if (cpus.size() % ids.size() != 0)
      fail(path + "cpus", "{} CPUs cannot be shared evenly by {} cores", cpus.size(), ids.size());
    for (const int cpu : cpus)
      if (!seen.insert(cpu).second) fail(path + "cpus", "CPU {} is in two cores", cpu);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      cores.push_back({ids[k], package, numa, cache, {}});
      for (std::size_t cpu = k; cpu < cpus.size(); cpu += ids.size()) cores.back().cpus.push_back(cpus[cpu]);
    }
  }
  return cores;
}

// One entry of a list, to say what is wrong with it.
struct entry {
  std::string_view list;
  std::size_t index;

  std::string path(std::string_view key) const { return fmt::format("{}[{}].{}", list, index, key); }
  void in_order(int id) const {
    if (id != static_cast<int>(index))
      expected(path("id"), fmt::format("{}: ids count from 0 in order", index));
  }
  void exists(std::string_view key, std::string_view kind, int id, bool does) const {
    if (!does) fail(path(key), "there is no {} {}", kind, id);
  }
  void first(std::string_view key, bool is, std::string_view from = "") const {
    if (!is) fail(path(key), "an earlier entry has the same{}", from);
  }
};

// What the values say of each other.
void check(const description& d) {
  const auto in_list = [](const auto& all, int id) { return static_cast<std::size_t>(id) < all.size(); };
  const machine& m = d.of;
  std::set<int> nodes, ordinals;
  std::set<std::string> uuids;
  std::set<std::pair<int, int>> pairs;
  for (std::size_t i = 0; i < m.packages.size(); ++i) entry{"packages", i}.in_order(m.packages[i].id);
  for (std::size_t i = 0; i < m.switches.size(); ++i) entry{"switches", i}.in_order(m.switches[i].id);
  for (std::size_t i = 0; i < m.numa_nodes.size(); ++i) {
    const entry at{"numa_nodes", i};
    at.first("id", nodes.insert(m.numa_nodes[i].id).second);
    at.exists("package", "package", m.numa_nodes[i].package, in_list(m.packages, m.numa_nodes[i].package));
  }
  for (std::size_t i = 0; i < d.cores.size(); ++i) {
    const entry at{"cores", i};
    at.exists("package", "package", d.cores[i].package, in_list(m.packages, d.cores[i].package));
    at.exists("numa", "NUMA node", d.cores[i].numa, nodes.contains(d.cores[i].numa));
  }
  for (std::size_t i = 0; i < m.gpus.size(); ++i) {
    const entry at{"gpus", i};
    at.in_order(m.gpus[i].id);
    at.first("cuda_ordinal", !m.gpus[i].cuda_ordinal || ordinals.insert(*m.gpus[i].cuda_ordinal).second);
    at.first("uuid", m.gpus[i].uuid.empty() || uuids.insert(m.gpus[i].uuid).second);
  }
  for (std::size_t i = 0; i < m.links.size(); ++i) {
    const entry at{"links", i};
    const auto end = [&](const char* key, const link_end& e) {
      if (e.kind == end_kind::gpu) at.exists(key, "GPU", e.id, in_list(m.gpus, e.id));
      if (e.kind == end_kind::nvswitch) at.exists(key, "switch", e.id, in_list(m.switches, e.id));
      if (e.kind == end_kind::cpu) at.exists(key, "package", e.id, in_list(m.packages, e.id));
    };
    end("a", m.links[i].a);
    end("b", m.links[i].b);
    if (m.links[i].a == m.links[i].b) expected(at.path("b"), "another end than a");
    if (m.links[i].c2c && (m.links[i].a.kind == end_kind::cpu) == (m.links[i].b.kind == end_kind::cpu))
      expected(at.path("c2c"), "false: NVLink-C2C joins a GPU and a CPU");
  }
  for (std::size_t i = 0; i < m.nics.size(); ++i) {
    const entry at{"nics", i};
    at.in_order(m.nics[i].id);
    const auto paths = m.nics[i].gpu_paths.size();
    at.exists("gpus", "GPU", static_cast<int>(paths) - 1, paths <= m.gpus.size());
  }
  for (std::size_t i = 0; i < d.peers.size(); ++i) {
    const entry at{"peers", i};
    const auto& [from, to] = std::tie(d.peers[i].from, d.peers[i].to);
    at.exists("from", "GPU", from, in_list(m.gpus, from));
    at.exists("to", "GPU", to, in_list(m.gpus, to));
    if (from == to) expected(at.path("to"), "another GPU than from");
    at.first("to", pairs.emplace(from, to).second, ", from the same GPU");
  }
  if (std::adjacent_find(m.allowed_cpus.begin(), m.allowed_cpus.end(), std::greater_equal<>{}) !=
      m.allowed_cpus.end())
    expected("allowed_cpus", "a rising list");
  if (m.quota && m.quota->cpus <= 0) expected("quota.cpus", "more than 0");
}

}  // namespace

bool is_description(std::string_view text) {
  return text.starts_with(format_name) ||
         text.find(fmt::format("\"{}\"", format_name)) != std::string_view::npos;
}

machine read_description(std::string_view text, std::string_view origin) {
  const std::string name(origin);
  const auto accepted =
      fmt::format("JSON with \"format\": \"{}\" and \"version\": {}, as mgsync topology --format "
                  "description writes it, or hwloc XML of version 2",
                  format_name, format_version);
  if (text.size() > max_description_bytes)
    fail(name, "the description is larger than {} MiB", max_description_bytes >> 20);
  if (text.starts_with(format_name))
    fail(name, "a description of version 1, in lines, which is no longer read; accepted: {}", accepted);
  json_reading how{.comments = comments::passed_over};
  nlohmann::ordered_json all;
  try {
    read_json(text, name, all, how);
  } catch (const usage_error& error) {
    throw usage_error(fmt::format("{}; accepted: {}", error.what(), accepted));
  }
  if (!all.is_object() || !all.contains("format") || all["format"] != format_name)
    fail(name, "no description of a machine; accepted: {}", accepted);
  if (!all.contains("version") || all["version"] != format_version)
    fail(name, "a description of another version; accepted: {}", accepted);
  try {
    how.knows_all_keys = true;
    how.most = max_cpu;
    auto d = from_json<description>(text, "", how);
    check(d);
    d.of.cores = cores_of(d.cores);
    for (auto& n : d.of.nics)
      if (!n.gpu_paths.empty()) n.gpu_paths.resize(d.of.gpus.size(), pcie_path::unknown);
    d.of.peers =
        d.usual ? peers_of(d.usual->facts, d.peers, static_cast<int>(d.of.gpus.size())) : std::move(d.peers);
    return std::move(d.of);
  } catch (const usage_error& error) { throw usage_error(fmt::format("{}: {}", name, error.what())); }
}

}  // namespace mgsync::topology
