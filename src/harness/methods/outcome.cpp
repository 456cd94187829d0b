#include "src/harness/methods/outcome.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace mgsync {

outcome_of_runs::outcome_of_runs(std::uint32_t runs) : asked_(runs) {
  if (runs == 0) throw std::invalid_argument("an outcome needs a run");
}

std::optional<step> outcome_of_runs::next(std::chrono::nanoseconds) {
  if (runs_ == asked_) return std::nullopt;
  return step{{run_order{.seed = runs_ + 1}},
              runs_,
              false};  // each run on a new object, as one that hung cannot be used again
}

void outcome_of_runs::take(const step&, std::span<const seen> came) {
  for (const auto& run : came) {
    if (run.outcome.empty()) throw std::invalid_argument("a run without an outcome");
    ++counts_[run.outcome];
    ++runs_;
  }
}

std::string outcome_of_runs::word() const {
  if (counts_.size() == 1) return counts_.begin()->first;
  std::string all;
  for (const auto& [word, times] : counts_)
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", word, times);
  return all;
}

}  // namespace mgsync
