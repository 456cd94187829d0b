// What the checks of several runs add up to, said alike by every study that compares: so much was checked, so
// much of it was wrong, and what was broken on purpose was noticed. A checker feeds it with its runs:
//
//     for (const auto& run : came) checks_.add(run);
//     return checks_.judge(verdict_kind::sum);
#pragma once

#include <cstdint>
#include <string>

#include "src/harness/subject.hpp"
#include "src/results/result.hpp"

namespace mgsync {

class checks {
 public:
  // A run that was asked for a fault is a control, which must be found wrong. One that compared nothing says
  // nothing.
  void add(const seen& run) {
    if (run.checked) add(*run.checked, !run.done.fault.empty());
  }
  void add(const check_counts&, bool is_control);

  std::uint64_t rounds() const { return all_.rounds; }
  // The first that was wrong, in its run's sentence; empty: none was.
  const std::string& example() const { return all_.example; }
  std::uint64_t controls() const { return controls_; }
  std::uint64_t unnoticed() const { return controls_ - noticed_; }  // controls that were not found wrong
  bool show_something() const { return controls_ > 0 && unnoticed() == 0; }
  // Passed where something was checked, nothing was wrong, and there was a control and every one was noticed.
  // Rounds are bounded.
  verdict judge(verdict_kind) const;

 private:
  check_counts all_;
  std::uint64_t controls_ = 0, noticed_ = 0;
};

}  // namespace mgsync
