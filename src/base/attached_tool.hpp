// Sanitizers, profilers and debuggers of GPU programs, by what they leave in the environment of the process
// that they run.
#pragma once

#include <optional>
#include <string>

namespace mgsync {

struct attached_tool {
  std::string variable;    // of the environment, by which it is known
  bool one_by_one = true;  // it may run a process's kernels one after the other
};

// The tool that is attached to the process with this environment; nothing where none is known to be.
// `environment` is laid out as POSIX's environ.
std::optional<attached_tool> attached_tool_of(const char* const* environment);
std::optional<attached_tool> attached_tool_here();

}  // namespace mgsync
