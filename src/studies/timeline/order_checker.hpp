// Checks that the rounds of a recording are rounds of a barrier: nobody leaves before all have come, within
// the uncertainty of the clocks. Keeps the recording of a typical run.
#pragma once

#include <string>
#include <vector>

#include "src/harness/checker.hpp"
#include "src/harness/checks.hpp"
#include "src/results/frame/recording.hpp"

namespace mgsync::timelines {

// Expects runs that carry a recording, as those with the recorder do.
class order_checker final : public checker {
 public:
  // The first step is a positive control: a run whose last member reads its clock too late, which the check
  // must find.
  std::optional<step> next() override;
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override { return checks_.judge(verdict_kind::rounds); }
  std::string refuted() const override { return checks_.example(); }
  std::string void_because() const override;
  // Attaches recording.json, table.txt and trace.json of the run with the median round time.
  void add_to(result&) const override;

 private:
  struct kept {
    double round_ns = 0;
    recording what;
  };
  bool asked_control_ = false;
  checks checks_;
  std::vector<kept> taken_;
};

}  // namespace mgsync::timelines
