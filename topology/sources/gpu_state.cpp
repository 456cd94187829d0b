#include "topology/sources/gpu_state.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology/sources/nvml_calls.hpp"

namespace mgsync::topology {
namespace {

using namespace nvml_calls;
constexpr int sm_clock = 1, memory_clock = 2, core_sensor = 0;
constexpr unsigned long long slows_nothing = 0x3;  // 1: idle; 2: the application's own clocks

struct process_info {  // nvmlProcessInfo_v2_t
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

std::string state_of(const nvml& library, gpu_handle gpu) {
  std::vector<std::string> words;
  unsigned now = 0, most = 0;
  if (library.ask("nvmlDeviceGetClockInfo", gpu, sm_clock, &now)) {
    const bool bounded = library.ask("nvmlDeviceGetMaxClockInfo", gpu, sm_clock, &most);
    words.push_back(bounded ? fmt::format("SM {} of {} MHz", now, most) : fmt::format("SM {} MHz", now));
  }
  if (library.ask("nvmlDeviceGetClockInfo", gpu, memory_clock, &now))
    words.push_back(fmt::format("memory {} MHz", now));
  if (library.ask("nvmlDeviceGetTemperature", gpu, core_sensor, &now))
    words.push_back(fmt::format("{} C", now));
  if (library.ask("nvmlDeviceGetPowerUsage", gpu, &now))
    words.push_back(fmt::format("{} W", (now + 500) / 1000));
  unsigned long long reasons = 0;
  if (library.ask("nvmlDeviceGetCurrentClocksThrottleReasons", gpu, &reasons))
    words.push_back(slowed_by(reasons));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string slowed_by(unsigned long long reasons) {
  // nvmlClocksEventReason*.
  constexpr std::array<std::pair<unsigned long long, const char*>, 7> known{{{0x4, "power cap"},
                                                                             {0x8, "hardware"},
                                                                             {0x10, "sync boost"},
                                                                             {0x20, "thermal (software)"},
                                                                             {0x40, "thermal (hardware)"},
                                                                             {0x80, "power brake"},
                                                                             {0x100, "display clocks"}}};
  std::vector<std::string> words;
  unsigned long long rest = reasons & ~slows_nothing;
  for (const auto& [bit, word] : known) {
    if ((rest & bit) != 0) words.emplace_back(word);
    rest &= ~bit;
  }
  if (rest != 0) words.push_back(fmt::format("reasons {:#x}", rest));
  return words.empty() ? "not slowed" : fmt::format("slowed by {}", fmt::join(words, ", "));
}

std::map<std::string, std::string> gpu_states() {
  std::map<std::string, std::string> states;
  const nvml library;
  unsigned count = 0;
  if (!library || !library.ask("nvmlDeviceGetCount_v2", &count)) return states;
  for (unsigned i = 0; i < count; ++i) {
    gpu_handle gpu = nullptr;
    std::array<char, 96> uuid{};
    if (!library.ask("nvmlDeviceGetHandleByIndex_v2", i, &gpu)) continue;
    if (!library.ask("nvmlDeviceGetUUID", gpu, uuid.data(), static_cast<unsigned>(uuid.size()))) continue;
    states[uuid.data()] = state_of(library, gpu);
  }
  return states;
}

struct gpu_watch::library {
  nvml opened;
  std::map<std::string, gpu_handle> handles;  // nullptr: there is no such GPU
};

gpu_watch::gpu_watch() : library_(std::make_unique<library>()) {}
gpu_watch::~gpu_watch() = default;

std::optional<gpu_moment> gpu_watch::look(const std::string& uuid) {
  const nvml& opened = library_->opened;
  if (!opened) return std::nullopt;
  const auto [found, fresh] = library_->handles.try_emplace(uuid, nullptr);
  if (fresh && !opened.ask("nvmlDeviceGetHandleByUUID", uuid.c_str(), &found->second))
    found->second = nullptr;
  const gpu_handle gpu = found->second;
  if (gpu == nullptr) return std::nullopt;
  gpu_moment now;
  if (!opened.ask("nvmlDeviceGetClockInfo", gpu, sm_clock, &now.sm_mhz)) now.sm_mhz = 0;
  if (opened.ask("nvmlDeviceGetCurrentClocksThrottleReasons", gpu, &now.slowed_by))
    now.slowed_by &= ~slows_nothing;
  std::array<process_info, 256> listed{};
  for (const char* name :
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    auto count = static_cast<unsigned>(listed.size());
    if (!opened.ask(name, gpu, &count, listed.data())) continue;
    for (unsigned i = 0; i < count; ++i)
      if (!is_mps_server(listed[i].pid)) now.processes.push_back(listed[i].pid);
    break;
  }
  return now;
}

bool is_mps_server(unsigned pid) {
  std::ifstream in(fmt::format("/proc/{}/comm", pid));
  std::string name;
  return std::getline(in, name) && name == "nvidia-cuda-mps";  // Linux keeps 15 characters
}

std::size_t processes_besides(const std::vector<unsigned>& listed, const std::set<unsigned>& own,
                              std::size_t ranks_here) {
  const std::set<unsigned> all(listed.begin(), listed.end());
  const auto known =
      static_cast<std::size_t>(std::ranges::count_if(all, [&](unsigned pid) { return own.contains(pid); }));
  const std::size_t ours = known > 0 ? known : ranks_here;
  return all.size() > ours ? all.size() - ours : 0;
}

std::string driver_version() {
  const nvml library;
  std::array<char, 80> text{};
  if (!library || !library.ask("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size())))
    return {};
  return text.data();
}

}  // namespace mgsync::topology
