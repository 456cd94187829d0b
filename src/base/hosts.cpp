#include "src/base/hosts.hpp"

#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace mgsync {

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::vector<std::string> distinct_hosts(std::span<const std::string> names, std::span<const std::string> boots) {
  std::set<std::string> taken(names.begin(), names.end());
  std::map<std::string, std::map<std::string, std::string>> known;  // by name, then by boot
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto& of_name = known[names[i]];
    const auto [entry, fresh] = of_name.try_emplace(boots[i], names[i]);
    if (fresh && of_name.size() > 1)
      for (auto number = of_name.size();; ++number) {
        entry->second = fmt::format("{}-{}", names[i], number);
        if (taken.insert(entry->second).second) break;
      }
    hosts.push_back(entry->second);
  }
  return hosts;
}

}  // namespace mgsync
