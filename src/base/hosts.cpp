#include "src/base/hosts.hpp"

#include <unistd.h>

#include <climits>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "src/base/content_hash.hpp"

namespace mgsync {

namespace {
bool hidden = false;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  const std::string told = gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
  return hidden ? pseudonym_of(told) : told;
}

void hide_host_name() { hidden = true; }

std::string pseudonym_of(const std::string& name) {
  static const std::regex pseudonym("host-[0-9a-f]{10}(-[0-9]+)?");
  if (name.empty() || std::regex_match(name, pseudonym)) return name;
  std::string digits;
  for (const char byte : sha256(name).substr(0, 5))
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return "host-" + digits;
}

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::vector<std::string> distinct_hosts(std::span<const std::string> names,
                                        std::span<const std::string> boots) {
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
