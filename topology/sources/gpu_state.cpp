#include "topology/sources/gpu_state.hpp"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology/sources/dynamic_library.hpp"

namespace mgsync::topology {
namespace {

// Types of NVML as its documentation fixes them; neither its header nor the library is needed to build.
using status = int;  // nvmlReturn_t
using device = void*;
constexpr status success = 0;
constexpr int sm_clock = 1, memory_clock = 2, core_sensor = 0;

class nvml {
 public:
  nvml() : library_("libnvidia-ml.so.1") {
    auto* const start = library_.find<status()>("nvmlInit_v2");
    started_ = start != nullptr && start() == success;
  }
  ~nvml() {
    if (auto* const stop = library_.find<status()>("nvmlShutdown"); started_ && stop != nullptr) stop();
    library_.keep();
  }
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  explicit operator bool() const { return started_; }

  // Whether the call is there and succeeded.
  template <class... Arguments>
  bool ask(const char* name, Arguments... arguments) const {
    auto* const function = library_.find<status(Arguments...)>(name);
    return function != nullptr && function(arguments...) == success;
  }

 private:
  dynamic_library library_;
  bool started_ = false;
};

std::string state_of(const nvml& library, device gpu) {
  std::vector<std::string> words;
  unsigned now = 0, most = 0;
  if (library.ask("nvmlDeviceGetClockInfo", gpu, sm_clock, &now)) {
    const bool bounded = library.ask("nvmlDeviceGetMaxClockInfo", gpu, sm_clock, &most);
    words.push_back(bounded ? fmt::format("SM {} of {} MHz", now, most) : fmt::format("SM {} MHz", now));
  }
  if (library.ask("nvmlDeviceGetClockInfo", gpu, memory_clock, &now)) words.push_back(fmt::format("memory {} MHz", now));
  if (library.ask("nvmlDeviceGetTemperature", gpu, core_sensor, &now)) words.push_back(fmt::format("{} C", now));
  if (library.ask("nvmlDeviceGetPowerUsage", gpu, &now)) words.push_back(fmt::format("{} W", (now + 500) / 1000));
  unsigned long long reasons = 0;
  if (library.ask("nvmlDeviceGetCurrentClocksThrottleReasons", gpu, &reasons)) words.push_back(slowed_by(reasons));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string slowed_by(unsigned long long reasons) {
  // nvmlClocksEventReason*; 1 (idle) and 2 (the application's own clocks) slow nothing down that was asked for.
  constexpr std::array<std::pair<unsigned long long, const char*>, 7> known{{{0x4, "power cap"},
                                                                             {0x8, "hardware"},
                                                                             {0x10, "sync boost"},
                                                                             {0x20, "thermal (software)"},
                                                                             {0x40, "thermal (hardware)"},
                                                                             {0x80, "power brake"},
                                                                             {0x100, "display clocks"}}};
  std::vector<std::string> words;
  unsigned long long rest = reasons & ~0x3ull;
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
    device gpu = nullptr;
    std::array<char, 96> uuid{};
    if (!library.ask("nvmlDeviceGetHandleByIndex_v2", i, &gpu)) continue;
    if (!library.ask("nvmlDeviceGetUUID", gpu, uuid.data(), static_cast<unsigned>(uuid.size()))) continue;
    states[uuid.data()] = state_of(library, gpu);
  }
  return states;
}

std::string driver_version() {
  const nvml library;
  std::array<char, 80> text{};
  if (!library || !library.ask("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size()))) return {};
  return text.data();
}

}  // namespace mgsync::topology
