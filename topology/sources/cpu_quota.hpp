// The CPU time that the cgroups of this process allow it, from the kernel's files.
#pragma once

#include <filesystem>
#include <optional>

#include "topology/machine.hpp"

namespace mgsync::topology {

// The tightest quota of this process's cgroup and of all that it is nested in, as far as they show here;
// cgroup v1, v2, or both. Nothing: no quota, or none that can be read. `root` stands for "/", for tests.
std::optional<cpu_quota> read_cpu_quota(const std::filesystem::path& root = "/");

}  // namespace mgsync::topology
