#include "topology/sources/cpu_quota.hpp"

#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "src/base/comma_list.hpp"

namespace mgsync::topology {
namespace {

namespace fs = std::filesystem;

// Where a hierarchy is mounted, and which of its groups the mount shows as its root.
struct mount {
  fs::path at, shows;
  bool v2 = false;
};

bool has_word(std::string_view list, std::string_view word) {
  for (const auto each : split_at_commas(list))
    if (each == word) return true;
  return false;
}

// /proc/self/mountinfo: "36 35 0:31 SHOWS AT OPTIONS [OPTIONAL...] - TYPE SOURCE SUPER-OPTIONS".
std::vector<mount> mounts_in(const fs::path& root) {
  std::vector<mount> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line), after(line.substr(dash + 3));
    std::string word, shows, at, type, source, options;
    before >> word >> word >> word >> shows >> at;
    after >> type >> source >> options;
    if (type == "cgroup2" || (type == "cgroup" && has_word(options, "cpu")))
      found.push_back({at, shows, type == "cgroup2"});
  }
  return found;
}

// /proc/self/cgroup: "0::PATH" of v2, "NUMBER:CONTROLLERS:PATH" of v1.
std::optional<fs::path> group_in(const fs::path& root, bool v2) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() : has_word(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<double> cpus_of(const fs::path& folder, bool v2) {
  std::string quota;
  double period = 0;
  if (v2) {
    std::ifstream(folder / "cpu.max") >> quota >> period;
  } else {
    std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
    std::ifstream(folder / "cpu.cfs_period_us") >> period;
  }
  const double time = std::strtod(quota.c_str(), nullptr);  // "max", "-1" and "": no limit
  if (!(time > 0) || !(period > 0) || !std::isfinite(time / period)) return std::nullopt;
  return time / period;
}

// A name of the cgroup that is the same for all processes that it limits, wherever it is mounted for them.
std::string identity(const fs::path& folder) {
  struct stat what {};
  return stat(folder.c_str(), &what) == 0 ? fmt::format("{}:{}", what.st_dev, what.st_ino) : folder.string();
}

}  // namespace

std::optional<cpu_quota> read_cpu_quota(const fs::path& root) {
  std::optional<cpu_quota> tightest;
  for (const auto& m : mounts_in(root)) {
    const auto group = group_in(root, m.v2);
    if (!group) continue;
    // In a container the mount may show the group itself, or the path may be that of the host.
    auto inside = group->lexically_relative(m.shows);
    if (inside.empty() || *inside.begin() == "..") inside = ".";
    const auto top = root / m.at.relative_path();
    for (auto folder = (top / inside).lexically_normal();; folder = folder.parent_path()) {
      if (const auto cpus = cpus_of(folder, m.v2); cpus && (!tightest || *cpus < tightest->cpus))
        tightest = cpu_quota{*cpus, identity(folder)};
      const auto above = folder.lexically_relative(top);
      if (above.empty() || above == "." || *above.begin() == "..") break;
    }
  }
  return tightest;
}

}  // namespace mgsync::topology
