#include "src/base/attached_tool.hpp"

#include <unistd.h>

#include <string_view>

namespace mgsync {

std::optional<attached_tool> attached_tool_of(const char* const* environment) {
  struct mark {
    std::string_view prefix;
    bool one_by_one;
  };
  // Nsight Systems records kernels as they run beside each other. What else is injected is not known.
  constexpr mark marks[] = {{"NV_SANITIZER", true},
                            {"NV_TPS_LAUNCH", true},
                            {"NV_NSIGHT_INJECTION", true},
                            {"NV_COMPUTE_PROFILER", true},
                            {"NSYS_PROFILING_SESSION_ID", false},
                            {"CUDA_INJECTION64_PATH=", true}};
  for (const auto& [prefix, one_by_one] : marks)
    for (const auto* entry = environment; entry != nullptr && *entry != nullptr; ++entry)
      if (const std::string_view one = *entry; one.starts_with(prefix))
        return attached_tool{std::string(one.substr(0, one.find('='))), one_by_one};
  return std::nullopt;
}

std::optional<attached_tool> attached_tool_here() { return attached_tool_of(environ); }

}  // namespace mgsync
