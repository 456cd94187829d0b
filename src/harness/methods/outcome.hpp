// What becomes of something that may hang or fail: no figure but a word, the same in every run or said to
// vary. The subject ends what does not end by itself (a child process, a trap, a bounded wait) and says how.
#pragma once

#include <map>
#include <string>

#include "src/harness/methods/method.hpp"

namespace mgsync {

// A run has an outcome, a word of the study's ("held", "passed", "hung", ...).
class outcome_of_runs final : public method {
 public:
  explicit outcome_of_runs(std::uint32_t runs);

  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override { return {}; }
  stop_reason stopped() const override {
    return runs_ == asked_ ? stop_reason::precision : stop_reason::none;
  }
  void resume(std::span<const sample>, std::uint32_t) override {}  // quickly run anew
  std::string description() const override { return "outcome of runs"; }

  // The outcome that all runs had, or all that were seen with their numbers: "held 9, hung 1". Empty before
  // any.
  std::string word() const;
  const std::map<std::string, std::uint32_t>& counts() const { return counts_; }

 private:
  std::uint32_t asked_;
  std::uint32_t runs_ = 0;
  std::map<std::string, std::uint32_t> counts_;
};

}  // namespace mgsync
