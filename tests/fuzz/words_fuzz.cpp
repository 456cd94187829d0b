// The small languages of the command line and the environment: CPU lists, placements, CUDA_VISIBLE_DEVICES,
// bus ids.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/base/errors.hpp"
#include "topology/cpu_list.hpp"
#include "topology/placement.hpp"
#include "topology/sources/visible_devices.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mgsync::topology;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto list = parse_cpu_list(text))
    if (parse_cpu_list(write_cpu_list(*list)) != list) std::abort();
  try {
    parse_placement(text);
  } catch (const mgsync::usage_error&) {}
  nvml_answer nvml;
  for (const char* uuid : {"GPU-1234-a", "GPU-1234-b", "GPU-5678"}) {
    nvml.gpus.emplace_back();
    nvml.gpus.back().gpu.uuid = uuid;
  }
  nvml.gpus[2].mig_uuids = {"MIG-1", "MIG-2"};
  visible_devices_problem(text, nvml);
  if (plain_bus_id(plain_bus_id(text)) != plain_bus_id(text)) std::abort();
  return 0;
}
