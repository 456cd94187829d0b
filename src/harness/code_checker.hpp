// The checker of subjects whose machine code was read when they were made, or there would be none.
#pragma once

#include "src/harness/checker.hpp"

namespace mgsync {

// Runs nothing. A derived class may look at what came of the runs.
class code_checker : public checker {
 public:
  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen>) override {}
  verdict judge() const override {
    verdict v;
    v.kind = verdict_kind::code;
    v.passed = true;
    return v;
  }
};

}  // namespace mgsync
