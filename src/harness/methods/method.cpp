#include "src/harness/methods/method.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "src/results/values/statistics.hpp"

namespace mgsync {

std::vector<metric> method::values() const {
  return samples_.empty() ? std::vector<metric>{} : summarize_all(columns(), samples_);
}

const std::vector<double>& values_of(const seen& run, const std::string& name) {
  const auto found = run.values.find(name);
  if (found == run.values.end() || found->second.empty())
    throw std::invalid_argument(fmt::format("a run that does not say its {}", name));
  return found->second;
}

double value_of(const seen& run, const std::string& name) {
  const auto& all = values_of(run, name);
  if (all.size() != 1)
    throw std::invalid_argument(fmt::format("a run with {} values of {}", all.size(), name));
  return all.front();
}

}  // namespace mgsync
