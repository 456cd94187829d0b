#include "src/results/machine_record.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/results/strict_json.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json to_json(const topology::gpu& gpu) {
  return {{"id", gpu.id},
          {"cuda_ordinal", or_null(gpu.cuda_ordinal)},
          {"name", gpu.name},
          {"uuid", gpu.uuid},
          {"pci_bus_id", gpu.pci_bus_id},
          {"numa", or_null(gpu.numa)},
          {"near_cpus", format_cpu_list(gpu.near_cpus)},
          {"compute_major", or_null(gpu.compute_major)},
          {"compute_minor", or_null(gpu.compute_minor)},
          {"sm_count", or_null(gpu.sm_count)},
          {"sm_clock_mhz", or_null(gpu.sm_clock_mhz)},
          {"memory_bytes", or_null(gpu.memory_bytes)},
          {"mig", gpu.mig}};
}

topology::gpu gpu_from_json(const ordered_json& value, const std::string& path) {
  object_reader in(value, path);
  const auto small = [&in](std::string_view key) -> std::optional<int> {
    const auto number = in.count_or_null(key, std::numeric_limits<int>::max());
    return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
  };
  topology::gpu gpu;
  gpu.id = in.integer("id");
  gpu.cuda_ordinal = small("cuda_ordinal");
  gpu.name = in.text("name");
  gpu.uuid = in.text("uuid");
  gpu.pci_bus_id = in.text("pci_bus_id");
  gpu.numa = small("numa");
  gpu.near_cpus = parse_cpu_list(in.text("near_cpus"));
  gpu.compute_major = small("compute_major");
  gpu.compute_minor = small("compute_minor");
  gpu.sm_count = small("sm_count");
  gpu.sm_clock_mhz = small("sm_clock_mhz");
  gpu.memory_bytes = in.count_or_null("memory_bytes");
  gpu.mig = in.flag("mig");
  in.finish();
  return gpu;
}

}  // namespace

ordered_json to_json(const machine_record& machine) {
  ordered_json gpus = ordered_json::array();
  for (const topology::gpu& gpu : machine.gpus) gpus.push_back(to_json(gpu));
  return {{"host", machine.host},
          {"hosts", machine.hosts},
          {"cpu_model", machine.cpu_model},
          {"cores", machine.cores},
          {"cpu_mask", format_cpu_list(machine.allowed_cpus)},
          {"kernel", machine.kernel},
          {"compiler", machine.compiler},
          {"mpi", machine.mpi},
          {"hwloc", machine.hwloc},
          {"mgsync", machine.mgsync},
          {"ranks", machine.ranks},
          {"pinning", machine.pinning},
          {"gpus", std::move(gpus)}};
}

machine_record machine_from_json(const ordered_json& value, const std::string& path) {
  object_reader in(value, path);
  machine_record machine;
  machine.host = in.text("host");
  machine.hosts = in.texts("hosts");
  machine.cpu_model = in.text("cpu_model");
  machine.cores = in.integer("cores");
  machine.allowed_cpus = parse_cpu_list(in.text("cpu_mask"));
  machine.kernel = in.text("kernel");
  machine.compiler = in.text("compiler");
  machine.mpi = in.text("mpi");
  machine.hwloc = in.text("hwloc");
  machine.mgsync = in.text("mgsync");
  machine.ranks = in.integer("ranks");
  machine.pinning = in.text("pinning");
  const ordered_json& gpus = in.member("gpus");
  if (!gpus.is_array()) throw usage_error(in.path_of("gpus") + ": expected an array");
  for (const ordered_json& gpu : gpus)
    machine.gpus.push_back(gpu_from_json(gpu, fmt::format("{}[{}]", in.path_of("gpus"), machine.gpus.size())));
  in.finish();
  return machine;
}

std::string difference(const machine_record& was, const machine_record& is) {
  // Field by field over the JSON, so that a new field cannot be forgotten here.
  const ordered_json before = to_json(was);
  const ordered_json now = to_json(is);
  std::vector<std::string> sentences;
  for (const auto& [key, value] : now.items()) {
    if (value == before.at(key)) continue;
    if (key == "gpus" && was.gpus.size() == is.gpus.size())
      sentences.push_back("the GPUs are others, or describe themselves differently");
    else if (key == "gpus")
      sentences.push_back(fmt::format("the number of GPUs is {}, was {}", is.gpus.size(), was.gpus.size()));
    else
      sentences.push_back(fmt::format("{} is {}, was {}", key, value.dump(), before.at(key).dump()));
  }
  return fmt::format("{}", fmt::join(sentences, "; "));
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::vector<std::string> ranges;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    ranges.push_back(first == last ? fmt::format("{}", cpus[first]) : fmt::format("{}-{}", cpus[first], cpus[last]));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr int most_cpus = 1 << 16;
  const auto refuse = [text] { throw usage_error(fmt::format("'{}' is no list of processors, as in 0-3,8", text)); };
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&] {
    int value = -1;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value >= most_cpus) refuse();
    at = next;
    return value;
  };
  while (at != end) {
    const int first = number();
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
    }
    if (last < first || cpus.size() + static_cast<std::size_t>(last - first) >= most_cpus) refuse();
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at != end && (*at != ',' || ++at == end)) refuse();
  }
  return cpus;
}

}  // namespace mgsync
