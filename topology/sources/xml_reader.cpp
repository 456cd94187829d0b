#include "topology/sources/xml_reader.hpp"

#include <hwloc.h>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "topology/description.hpp"
#include "topology/discovery.hpp"
#include "topology/sources/bounded_child.hpp"
#include "topology/sources/host_discovery.hpp"
#include "topology/sources/hwloc_gpus.hpp"
#include "topology/sources/hwloc_handle.hpp"

namespace mgsync::topology {
namespace {

constexpr std::string_view refused = "refused: ";  // starts the child's answer when hwloc says no

std::vector<int> allowed_of(hwloc_topology_t t) {
  std::vector<int> cpus;
  const auto set = hwloc_topology_get_allowed_cpuset(t);
  if (set == nullptr || hwloc_bitmap_weight(set) < 0) return cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) cpus.push_back(cpu);
  return cpus;
}

// Lines of our own description that a report has put into the root's info attributes.
std::string own_lines(hwloc_obj_t root) {
  std::string lines;
#if HWLOC_API_VERSION >= 0x00030000
  const auto* infos = root->infos.array;
  const auto count = root->infos.count;
#else
  const auto* infos = root->infos;
  const auto count = root->infos_count;
#endif
  for (unsigned i = 0; i < count; ++i)
    if (std::string_view(infos[i].name) == "mgsync") lines += std::string(infos[i].value) + '\n';
  return lines;
}

// Without the lines that every description starts with, where others say them already.
std::string cpu_lines(const machine& m) {
  const std::string text = write_description(m);
  std::string lines;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = text.find('\n', start) + 1;
    const auto line = std::string_view(text).substr(start, end - start);
    for (const std::string_view word : {"package ", "numa ", "core ", "allowed "})
      if (line.starts_with(word)) lines += line;
    start = end;
  }
  return lines;
}

std::string describe(hwloc_topology_t t) {
  machine m;
  add_cpu_side(m, t);
  m.allowed_cpus = allowed_of(t);
  const auto root = hwloc_get_root_obj(t);
  if (const auto own = own_lines(root); !own.empty())
    return std::string(description_magic) + '\n' + cpu_lines(m) + own;
  const char* host = hwloc_obj_get_info_by_name(root, "HostName");
  m.host = host != nullptr ? host : "";
  add_hwloc_gpus(m, t);
  return write_description(m);
}

// Runs in the child: everything here may crash.
std::string load(std::string_view text) {
  const hwloc_handle topology = new_topology();
  if (!topology) return std::string(refused) + "hwloc does not start";
  const auto t = topology.get();
  // The length that hwloc wants counts the terminating null.
  const std::string buffer(text);
  if (hwloc_topology_set_xmlbuffer(t, buffer.c_str(), static_cast<int>(buffer.size()) + 1) != 0)
    return std::string(refused) + "it is not XML that hwloc understands";
  hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(t) != 0) return std::string(refused) + "hwloc cannot load it";
  return describe(t);
}

}  // namespace

machine read_xml(std::string_view text, const std::string& origin) {
  // hwloc before 3 says "cannot load" to version 3, which newer lstopo writes unless told otherwise.
  const bool third = text.substr(0, 4096).find("<topology version=\"3") != std::string_view::npos;
  const auto accepted =
      third ? fmt::format("hwloc {} may not know XML of version 3; accepted: version 2 (lstopo --of v2xml), or an mgsync "
                          "description", hwloc_version())
            : std::string("accepted: hwloc XML of version 2 (lstopo --of xml), or an mgsync description");
  const auto answer = run_in_child([&] { return load(text); }, {});
  if (!answer.finished)
    throw usage_error(fmt::format("{}: bad topology file, hwloc did not survive it: {}; {}", origin, answer.death,
                                  accepted));
  if (answer.text.starts_with(refused))
    throw usage_error(
        fmt::format("{}: bad topology file, {}; {}", origin, answer.text.substr(refused.size()), accepted));
  return read_description(answer.text, origin + " (as hwloc read it)");
}

}  // namespace mgsync::topology
