// For subjects that may hang or fail: the result is a word instead of a value, and says so where runs differ.
// The subject itself ends a run that hangs (by a child process, a trap, or a bounded wait) and reports the
// outcome.
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
  void resume(std::span<const sample>, std::uint32_t) override {
  }  // not resumed: it is quickly measured again
  std::string description() const override { return "outcome of runs"; }

  // The outcome that all runs had, or each outcome with the number of its runs: "held 9, hung 1". Empty
  // before the first run.
  std::string word() const;
  const std::map<std::string, std::uint32_t>& counts() const { return counts_; }

 private:
  std::uint32_t asked_;
  std::uint32_t runs_ = 0;
  std::map<std::string, std::uint32_t> counts_;
};

}  // namespace mgsync
