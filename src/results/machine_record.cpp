#include "src/results/machine_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/strict_json.hpp"
#include "topology/cpu_list.hpp"

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
          {"near_cpus", topology::write_cpu_list(gpu.near_cpus)},
          {"compute_major", or_null(gpu.compute_major)},
          {"compute_minor", or_null(gpu.compute_minor)},
          {"sm_count", or_null(gpu.sm_count)},
          {"sm_clock_mhz", or_null(gpu.sm_clock_mhz)},
          {"memory_bytes", or_null(gpu.memory_bytes)},
          {"mig", gpu.mig}};
}

std::vector<int> cpus_from_json(const object_reader& in, std::string_view key) {
  if (const auto cpus = topology::parse_cpu_list(in.get<std::string>(key))) return *cpus;
  expected(in.path_of(key), "a list of processors, as in 0-3,8");
}

topology::gpu gpu_from_json(const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  topology::gpu gpu;
  gpu.id = in.get<int>("id");
  gpu.cuda_ordinal = in.get<std::optional<int>>("cuda_ordinal");
  gpu.name = in.get<std::string>("name");
  gpu.uuid = in.get<std::string>("uuid");
  gpu.pci_bus_id = in.get<std::string>("pci_bus_id");
  gpu.numa = in.get<std::optional<int>>("numa");
  gpu.near_cpus = cpus_from_json(in, "near_cpus");
  gpu.compute_major = in.get<std::optional<int>>("compute_major");
  gpu.compute_minor = in.get<std::optional<int>>("compute_minor");
  gpu.sm_count = in.get<std::optional<int>>("sm_count");
  gpu.sm_clock_mhz = in.get<std::optional<int>>("sm_clock_mhz");
  gpu.memory_bytes = in.get<std::optional<std::uint64_t>>("memory_bytes");
  gpu.mig = in.get<bool>("mig");
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
          {"cpu_mask", topology::write_cpu_list(machine.allowed_cpus)},
          {"kernel", machine.kernel},
          {"compiler", machine.compiler},
          {"mpi", machine.mpi},
          {"hwloc", machine.hwloc},
          {"mgsync", machine.mgsync},
          {"ranks", machine.ranks},
          {"pinning", machine.pinning},
          {"gpus", std::move(gpus)},
          {"notes", machine.notes}};
}

machine_record machine_from_json(const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  machine_record machine;
  machine.host = in.get<std::string>("host");
  machine.hosts = in.get<std::vector<std::string>>("hosts");
  machine.cpu_model = in.get<std::string>("cpu_model");
  machine.cores = in.get<int>("cores");
  machine.allowed_cpus = cpus_from_json(in, "cpu_mask");
  machine.kernel = in.get<std::string>("kernel");
  machine.compiler = in.get<std::string>("compiler");
  machine.mpi = in.get<std::string>("mpi");
  machine.hwloc = in.get<std::string>("hwloc");
  machine.mgsync = in.get<std::string>("mgsync");
  machine.ranks = in.get<int>("ranks");
  machine.pinning = in.get<std::string>("pinning");
  for (const ordered_json& gpu : in.array("gpus"))
    machine.gpus.push_back(
        gpu_from_json(gpu, fmt::format("{}[{}]", in.path_of("gpus"), machine.gpus.size())));
  machine.notes = in.get_or<std::vector<std::string>>("notes", {});  // absent in older documents
  return machine;
}

std::string format_notes(const machine_record& machine) {
  std::string text;
  for (const auto& note : machine.notes) text += fmt::format("note: {}\n", note);
  return text.empty() ? text : "\n" + text;
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
    else sentences.push_back(fmt::format("{} is {}, was {}", key, value.dump(), before.at(key).dump()));
  }
  return fmt::format("{}", fmt::join(sentences, "; "));
}

}  // namespace mgsync
