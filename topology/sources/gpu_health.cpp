#include <array>

#include "topology/health.hpp"
#include "topology/sources/gpu_state.hpp"
#include "topology/sources/nvml_calls.hpp"

namespace mgsync::topology {
namespace {

using nvml_calls::gpu_handle;
using nvml_calls::nvml;

gpu_health health_of(const nvml& library, gpu_handle gpu) {
  gpu_health now;
  int on = 0, after_reset = 0;
  if (library.ask("nvmlDeviceGetEccMode", gpu, &on, &after_reset)) now.ecc = on == 1;
  constexpr int uncorrected = 1, since_the_driver_was_loaded = 0;
  if (unsigned long long errors = 0;
      library.ask("nvmlDeviceGetTotalEccErrors", gpu, uncorrected, since_the_driver_was_loaded, &errors))
    now.uncorrected = errors;
  if (unsigned correctable = 0, hard = 0, pending = 0, failed = 0;
      library.ask("nvmlDeviceGetRemappedRows", gpu, &correctable, &hard, &pending, &failed)) {
    now.remap_pending = pending != 0;
    now.remap_failed = failed != 0;
  }
  if (unsigned lanes = 0; library.ask("nvmlDeviceGetCurrPcieLinkWidth", gpu, &lanes)) now.pcie_lanes = lanes;
  if (unsigned lanes = 0; library.ask("nvmlDeviceGetMaxPcieLinkWidth", gpu, &lanes))
    now.pcie_lanes_most = lanes;
  return now;
}

}  // namespace

std::vector<gpu_health> gpu_healths() {
  std::vector<gpu_health> all;
  const nvml library;
  gpu_watch watch;
  unsigned count = 0;
  if (!library || !library.ask("nvmlDeviceGetCount_v2", &count)) return all;
  for (unsigned i = 0; i < count; ++i) {
    gpu_handle gpu = nullptr;
    std::array<char, 96> uuid{};
    if (!library.ask("nvmlDeviceGetHandleByIndex_v2", i, &gpu)) continue;
    if (!library.ask("nvmlDeviceGetUUID", gpu, uuid.data(), static_cast<unsigned>(uuid.size()))) continue;
    auto now = health_of(library, gpu);
    now.uuid = uuid.data();
    if (const auto moment = watch.look(now.uuid)) {
      constexpr unsigned long long caps_of_an_idle_gpu = 0x4;  // a power cap is no fault before anything runs
      now.slowed_by = moment->slowed_by & ~caps_of_an_idle_gpu;
      now.processes = moment->processes;
    }
    all.push_back(std::move(now));
  }
  return all;
}

}  // namespace mgsync::topology
