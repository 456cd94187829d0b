// What shows that a figure means something: runs of its own before anything is timed, or a look at every timed run.
#pragma once

#include <optional>
#include <span>

#include "src/harness/methods/method.hpp"

namespace mgsync {

class prover {
 public:
  virtual ~prover() = default;
  // The next of its own runs, before timing; nothing when it needs no more.
  virtual std::optional<step> next() = 0;
  // What came of its own runs and of every timed one.
  virtual void take(const step&, std::span<const seen>) = 0;
  // What it can say by now. With a violation nothing is timed, or the figure is withdrawn: details["reason"] says why.
  virtual verdict judge() const = 0;
};

}  // namespace mgsync
