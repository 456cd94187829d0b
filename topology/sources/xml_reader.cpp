#include "topology/sources/xml_reader.hpp"

#include <hwloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/unique_descriptor.hpp"
#include "topology/description.hpp"
#include "topology/discovery.hpp"
#include "topology/sources/host_discovery.hpp"
#include "topology/sources/hwloc_gpus.hpp"
#include "topology/sources/hwloc_handle.hpp"

namespace mgsync::topology {
namespace {

constexpr std::string_view refused =
    "refused: ";  // the beginning of the child's answer when hwloc refuses the file

std::vector<int> allowed_of(hwloc_topology_t t) {
  std::vector<int> cpus;
  const auto set = hwloc_topology_get_allowed_cpuset(t);
  if (set == nullptr || hwloc_bitmap_weight(set) < 0) return cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) cpus.push_back(cpu);
  return cpus;
}

std::string describe(hwloc_topology_t t) {
  machine m;
  add_cpu_side(m, t);
  m.allowed_cpus = allowed_of(t);
  const auto root = hwloc_get_root_obj(t);
  if (const char* own = hwloc_obj_get_info_by_name(root, "mgsync")) {  // that a report of ours has put there
    auto all = machine_json(m);
    try {
      const auto values = from_json<nlohmann::ordered_json>(own, "its value");
      if (!values.is_object()) throw usage_error("its value: expected an object");
      all.update(values);
    } catch (const usage_error& error) {
      return fmt::format("{}its info attribute mgsync is none of this version of mgsync ({})", refused,
                         error.what());
    }
    return json_lines(all);
  }
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
  // As a file: of a buffer libxml reads no more than 10 MB.
  const unique_descriptor file(memfd_create("topology", MFD_CLOEXEC));
  if (!file || !write_all(file.get(), text)) return std::string(refused) + "there is no memory for it";
  if (hwloc_topology_set_xml(t, fmt::format("/proc/self/fd/{}", file.get()).c_str()) != 0)
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
      third ? fmt::format("hwloc {} may not know XML of version 3; accepted: version 2 (lstopo --of v2xml), "
                          "or an mgsync "
                          "description",
                          hwloc_version())
            : std::string("accepted: hwloc XML of version 2 (lstopo --of xml), or an mgsync description");
  const auto answer = run_child({.work = [&] { return load(text); },
                                 .longest = std::chrono::seconds(20),
                                 .memory = std::size_t{1} << 30});
  if (!answer.death.empty())
    throw usage_error(fmt::format("{}: bad topology file, hwloc did not survive it: {}; {}", origin,
                                  answer.death, accepted));
  if (answer.out.starts_with(refused))
    throw usage_error(
        fmt::format("{}: bad topology file, {}; {}", origin, answer.out.substr(refused.size()), accepted));
  return read_description(answer.out, origin + " (as hwloc read it)");
}

}  // namespace mgsync::topology
