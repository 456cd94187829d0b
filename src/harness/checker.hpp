// Checks that a subject is what it claims to be: by runs of its own before anything is timed, or by examining
// every timed run.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "src/harness/methods/method.hpp"

namespace mgsync {

class checker {
 public:
  virtual ~checker() = default;
  // The next checking run to make before timing; nothing when no more are needed.
  virtual std::optional<step> next() = 0;
  // Called with the outcome of each checking run and of every step of sampling, before the method gets it.
  virtual void take(const step&, std::span<const seen>) = 0;
  // The verdict over everything taken so far.
  virtual verdict judge() const = 0;
  // A sentence that says why the subject is not what it claims to be; empty while nothing speaks against it.
  // Once it is not empty, the point has failed and nothing more is timed.
  virtual std::string refuted() const { return {}; }
  // A sentence that says why the subject's values are void although it did nothing wrong; empty where they
  // are not.
  virtual std::string void_because() const { return {}; }
  // Adds what else the runs showed to the result (notes, environment). Called once, when the point is done.
  virtual void add_to(result&) const {}
};

}  // namespace mgsync
