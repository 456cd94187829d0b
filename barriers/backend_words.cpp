#include <fmt/format.h>

#include "barriers/words.hpp"

namespace mgsync {

std::vector<std::string> backend_words() {
  std::vector<std::string> all{"all", "default"};
  for (const auto* one : backends()) {
    all.emplace_back(one->name);
    if (one->variants.size() > 1) all.push_back(fmt::format("{}:*", one->name));
    for (const auto& each : one->variants) all.push_back(to_string(backend_choice{one, &each}));
  }
  return all;
}

}  // namespace mgsync
