// Adds up the checks of several runs to a verdict: how much was checked, how much of it was wrong, and
// whether every positive control was caught. A checker passes its runs:
//
//     for (const auto& run : came) checks_.add(run);
//     return checks_.judge(verdict_kind::sum);
#pragma once

#include <cstdint>
#include <string>

#include "src/harness/subject.hpp"
#include "src/results/values/result.hpp"

namespace mgsync {

class checks {
 public:
  // A run with an injected fault is a positive control, which must be found wrong. A run that compared
  // nothing is ignored.
  void add(const seen& run) {
    if (run.checked) add(*run.checked, !run.done.fault.empty());
  }
  void add(const check_counts&, bool is_control);

  std::uint64_t rounds() const { return all_.rounds; }
  // The example sentence of the first run that was wrong; empty: none was.
  const std::string& example() const { return all_.example; }
  std::uint64_t controls() const { return controls_; }
  std::uint64_t unnoticed() const { return controls_ - noticed_; }  // controls that were not found wrong
  bool show_something() const { return controls_ > 0 && unnoticed() == 0; }
  // Passed where something was checked, nothing was wrong, and there was at least one positive control and
  // all were caught.
  verdict judge(verdict_kind) const;

 private:
  check_counts all_;
  std::uint64_t controls_ = 0, noticed_ = 0;
};

}  // namespace mgsync
