// The checker of subjects that have a checking run and can be broken on purpose (docs/extending.md): before
// anything is timed it asks for a run with a fault, which must be found wrong, and for one without. The
// subject says in seen::checked what a run compared, and ends as ending::wrong where it was wrong without a
// fault.
//     m.checker = [] { return std::make_unique<control_and_check>(verdict_kind::sum, 40); };
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "src/harness/checker.hpp"
#include "src/harness/checks.hpp"

namespace mgsync {

class control_and_check final : public checker {
 public:
  // order::fault of the run that is broken on purpose.
  static constexpr std::string_view fault = "broken on purpose";

  // `count`: of each of the two runs; 0: nothing is checked, and the verdict says so.
  control_and_check(verdict_kind kind, std::uint64_t count) : kind_(kind), count_(count) {}

  std::optional<step> next() override;
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) checks_.add(run);
  }
  verdict judge() const override;

 private:
  verdict_kind kind_;
  std::uint64_t count_;
  bool asked_ = false;
  checks checks_;
};

}  // namespace mgsync
